// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexCommand

@Suite("duplex bench", .timeLimit(minutes: 1))
struct BenchTests {
    private static let short = ["--connections", "3", "--duration", "500ms", "--warmup", "0s", "--json"]
    /// Where messages have to come: a machine that is busy may stand still for a while.
    private static let long = ["--connections", "3", "--duration", "2s", "--warmup", "0s", "--json"]

    @Test("Against an echo it prints a report and ends with 0", arguments: ["sync", "async"])
    func echoes(style: String) async throws {
        try await withServeCommand(["--handler", style]) { authority in
            let result = try await RunningCommand.run(
                ["bench", "ws://\(authority)/", "--text", "--depth", "4"] + Self.long
            )
            #expect(result.status == 0)
            #expect(result.errors.isEmpty)
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            #expect(try #require(object?["messages"] as? Int) > 0)
            #expect(object?["kind"] as? String == "text")
            #expect(object?["failedConnections"] as? Int == 0)
        }
    }

    @Test("With each kind of client, all that is in flight comes back", arguments: BenchClient.allCases)
    func clients(client: BenchClient) async throws {
        try await withServeCommand(["--handler", "sync"]) { authority in
            for load in [["--depth", "1", "--size", "32B"], ["--depth", "40", "--size", "64KiB", "--text"]] {
                let arguments = ["bench", "ws://\(authority)/", "--client", client.rawValue] + load + Self.long
                let result = try await RunningCommand.run(arguments)
                #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
                let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
                #expect(try #require(object?["messages"] as? Int) > 0)
            }
        }
    }

    @Test("It connects as it is told: with fields, cookies, a token, an origin, subprotocols and compression")
    func options() async throws {
        var server = WebServer(port: 0)
        server.webSockets.compression = .required
        server.webSockets.subprotocols = ["bench"]
        server.webSocket(
            "/",
            admit: { request in
                let headers = request.headers
                let isRight =
                    headers[.cookie] == "a=1; b=2" && headers[.authorization] == "Bearer t"
                    && headers[.origin] == "https://p.test"
                    && headers[.userAgent] == "probe" && headers[.secWebSocketProtocol] == "bench"
                return isRight ? .accepted() : .refused(.unauthorized, "no")
            },
            handler: { socket, _ in
                for try await message in socket.messages { try await socket.send(message) }
            }
        )
        server.webSockets.origins = .any
        try await withServer(server) { url in
            let headers = ["--cookie", "a=1", "--cookie", "b=2", "--bearer", "t", "--origin", "https://p.test"]
            let arguments = headers + ["--user-agent", "probe", "--subprotocol", "bench", "--compression", "required"]
            let known = try await RunningCommand.run(["bench", url] + arguments + Self.short)
            let unknown = try await RunningCommand.run(["bench", url] + Self.short)
            #expect(known.status == 0 && unknown.status == 3)
        }
    }

    @Test("An echo that differs ends it with 4 and says how")
    func differs() async throws {
        let handler: @Sendable (isolated WebSocket) async throws -> Void = { socket in
            for try await _ in socket.messages { try await socket.send([0]) }
        }
        let result = try await withWebSocketServer(handler) { url in
            try await RunningCommand.run(["bench", url] + Self.short)
        }
        #expect(result.status == 4)
        #expect(result.errors == "duplex: An echo came back with 1 bytes.\n")
    }

    @Test("A server that isn't there ends it with 2")
    func unreachable() async throws {
        let result = try await RunningCommand.run(["bench", "ws://127.0.0.1:1/"] + Self.short)
        #expect(result.status == 2)
        let lines = try JSONScalar.lines(result.output)
        #expect(lines.count == 1 && lines.first?["status"] == .number(2))
        #expect(
            lines.first?["error"]?.text?.hasPrefix("No connection could be opened.\n  ws://127.0.0.1:1/ can't") == true
        )
        let plain = try await RunningCommand.run(["bench", "127.0.0.1:1", "--connections", "3"])
        #expect(plain.status == 2 && plain.output.isEmpty)
        #expect(plain.errors.hasPrefix("duplex: No connection could be opened.\n  ws://127.0.0.1:1/ can't be reached."))
    }

    @Test("Where only some connections can be opened, it says how many")
    func someRefused() async throws {
        let admitted = Mutex(0)
        var server = WebServer(port: 0)
        server.webSocket(
            "/",
            admit: { _ in
                let number = admitted.withLock { count in
                    count += 1
                    return count
                }
                return number <= 2 ? .accepted() : .refused(.serviceUnavailable, "full")
            },
            handler: { socket, _ in for try await _ in socket.messages {} }
        )
        try await withServer(server) { url in
            let result = try await RunningCommand.run(["bench", url] + Self.short)
            #expect(result.status == 3 && result.errors.hasPrefix("duplex: Only 2 of 3 connections could be opened.\n"))
        }
    }

    @Test("Interrupted, it reports what it has measured")
    func interrupted() async throws {
        try await withServeCommand { authority in
            let arguments = ["--connections", "1", "--duration", "1h", "--warmup", "0s"]
            let bench = try TerminalCommand(["bench", "ws://\(authority)/"] + arguments)
            // The first line of progress: it is measuring.
            try await bench.expect("messages/s")
            bench.signal(2)
            try await bench.expect("no error\r\n")
            let status = try await bench.finish()
            #expect(status == 0)
        }
    }
}
