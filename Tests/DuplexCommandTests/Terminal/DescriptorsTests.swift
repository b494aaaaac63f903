// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexCommand

@Suite("Standard descriptors", .timeLimit(minutes: 2))
struct StandardDescriptorsTests {
    /// Every set of closed descriptors, as a shell closes them.
    static let closings = (1..<8).map { set in
        ["<&-", ">&-", "2>&-"].enumerated().filter { set & 1 << $0.offset != 0 }.map(\.element).joined(separator: " ")
    }

    @Test("A server that is started with closed descriptors serves, and ends in order", arguments: closings)
    func serves(closing: String) async throws {
        try await withTemporaryFolder { folder in
            let server = try RunningCommand(["serve", "unix:\(folder)socket"], redirecting: closing)
            let echo = try await Self.echo(of: try Endpoint("unix:\(folder)socket"))
            server.signal(SIGTERM)
            let result = try await server.finish()
            #expect(echo == "hello" && result.status == 0, "\(result)")
        }
    }

    @Test(
        "A web server that is started without any descriptor serves, and an inspected one, too",
        arguments: [false, true]
    )
    func servesPages(isInspected: Bool) async throws {
        let port = try await Self.freePort()
        let server = try RunningCommand(
            ["serve", "-p", "\(port)"] + (isInspected ? ["--inspect"] : []),
            redirecting: "<&- >&- 2>&-"
        )
        let url = "ws://localhost:\(port)/echo"
        let isServing = try await comesTrue {
            try await RunningCommand.run(["connect", url, "-x", "hello"]).output == "hello\n"
        }
        server.signal(SIGTERM)
        let status = try await server.finish().status
        #expect(isServing && status == 0)
    }

    @Test("Without standard input its lines can't be read, and texts are sent all the same")
    func closedInput() async throws {
        try await withServeCommand { authority in
            let url = "ws://\(authority)/echo"
            let lines = try await RunningCommand(["connect", url], redirecting: "<&-").finish()
            #expect(lines.status == 1 && lines.errors.contains("input can't be read"), "\(lines)")
            let text = try await RunningCommand(["connect", url, "-x", "hello"], redirecting: "<&-").finish()
            #expect(text == CommandResult(status: 0, output: "hello\n", errors: ""))
        }
    }

    /// What a server echoes as soon as it can be reached.
    private static func echo(of endpoint: Endpoint) async throws -> String {
        var connected: Socket?
        _ = await comesTrue {
            connected = try? await Socket.connect(to: endpoint)
            return connected != nil
        }
        let socket = try #require(connected)
        try await socket.write("hello")
        let bytes = try await socket.read(exactly: 5)
        await socket.close()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A port that was free a moment ago.
    private static func freePort() async throws -> Int {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        await listener.close()
        return listener.localAddress.port
    }
}

@Suite("The limit of descriptors", .timeLimit(minutes: 1))
struct DescriptorLimitTests {
    @Test("It is raised as far as the system lets it, and raising it again changes nothing")
    func raising() async {
        // Limits are the process's, so it is another process whose limit is changed.
        await #expect(processExitsWith: .success) {
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            try #require(unsafe getrlimit(resource, &limit) == 0)
            let most = limit.rlim_max
            limit.rlim_cur = 64
            try #require(unsafe setrlimit(resource, &limit) == 0)
            for _ in 0..<2 {
                #expect(DescriptorLimit.raise() == UInt64(most))
                try #require(unsafe getrlimit(resource, &limit) == 0)
                #expect(limit.rlim_cur == most)
                #expect(limit.rlim_max == most)
            }
        }
    }

    @Test("Serving and loading begin by raising it: more connections than the limit was are no failure")
    func commands() async throws {
        try await withServeCommand(descriptors: 48) { authority in
            let options = ["--connections", "60", "--duration", "1ms", "--warmup", "0s"]
            let bench = try RunningCommand(["bench", "ws://\(authority)/"] + options, descriptors: 48)
            let result = try await bench.finish()
            #expect(result.status == 0)
            #expect(result.errors == "")
        }
    }
}
