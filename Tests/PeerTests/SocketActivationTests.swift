// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSockets

#if os(Linux)
/// systemd, as it starts a service with the first connection.
@Suite(.timeLimit(minutes: 5)) struct SocketActivationTests {
    private static let program = "/usr/bin/systemd-socket-activate"

    /// The service is another run of these tests, of which the one test that takes what it inherits is chosen.
    @Test(
        "A service that systemd starts takes the sockets of its unit by their name",
        .enabled(if: Integration.has("systemd-socket-activate"), "systemd-socket-activate isn't installed")
    )
    func activation() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "duplex-\(UUID().uuidString.prefix(8)).sock")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let service = [
            CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter",
            "InheritedSocketsTests/handedOver",
        ]
        let command = [Self.program, "--listen", path, "--fdname", "web", "-E", "DUPLEX_POLLER=poll"] + service
        try await PeerProcess.withRunning(command) { _, line in
            #expect(line.contains("Listening on"))
            let socket = try await Socket.connect(to: .address(try .unix(path)))
            try await socket.write("through systemd's socket\n")
            #expect(try await socket.readLine(timeout: .limit(seconds: 120)) == "through systemd's socket")
            await socket.close()
        }
        // The file is systemd's, and stays.
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Of the service manager's side there is a socket for datagrams, as sd_notify(3) has it.
    @Test("A service manager hears from duplex serve when it takes connections, and when it ends at SIGTERM")
    func notification() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "duplex-\(UUID().uuidString.prefix(8)).sock")
            .path(percentEncoded: false)
        let descriptor = try DatagramCalls.socket(.unix)
        defer {
            SystemCalls.close(descriptor)
            try? FileManager.default.removeItem(atPath: path)
        }
        try DatagramCalls.bind(descriptor, to: .unix(path))
        let buffer = ReceiveBuffer()
        var heard: [String] = []
        func hears(_ state: String) async -> Bool {
            await comesTrue {
                let result = DatagramCalls.receive(descriptor, upTo: 4, size: 512, port: 0, in: buffer)
                if case .received(let datagrams) = result {
                    heard += datagrams.map { String(decoding: $0.bytes, as: UTF8.self) }
                }
                return heard.contains(state)
            }
        }
        try await DuplexServe.withRunning(environment: ["NOTIFY_SOCKET": path]) { server in
            #expect(await hears("READY=1"))
            #expect(!heard.contains("STOPPING=1"))
            let socket = try await Socket.connect(to: .host("127.0.0.1", port: Int(server.port)))
            await socket.close()
        }
        #expect(await hears("STOPPING=1"))
        #expect(heard == ["READY=1", "STOPPING=1"])
    }
}
#endif
