// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexCommand

extension PeerTests {
    /// Clients that others wrote, talking to our server through `duplex inspect`.
    @Suite(.serialized)
    struct ForwardedClientTests {
        private static func withProxy(
            to server: WebServer,
            _ body: @escaping @Sendable (String) async throws -> Void
        ) async throws {
            try await server.withRunning { address in
                var front = WebServer(host: "127.0.0.1", port: 0)
                Corpus.prepare(&front)
                front.webSockets.compression = .enabled
                try InspectProxy(to: "ws://\(address)/", options: Corpus.options).add(to: &front)
                try await front.withRunning { try await body("ws://\($0)") }
            }
        }

        @Test(
            "A foreign client gets on with the server behind it",
            .timeLimit(minutes: 2),
            arguments: [Peer.websockets, .aiohttp, .ws].flatMap { peer in peer.scenarios.map { (peer, $0) } }
        )
        func getsOn(_ pair: (Peer, Scenario)) async throws {
            let (peer, scenario) = pair
            try await Self.withProxy(to: EchoServer(compression: .enabled).server) { url in
                let path = EchoServer.Path.task.rawValue
                let command = peer.client(scenario, path: path, url: url)
                let output = try await PeerProcess.run(command, environment: Peer.environment)
                #expect(output.hasPrefix("ok \(path)"))
            }
        }

        @Test("The server sees the code and the reason of every close frame", .timeLimit(minutes: 2))
        func seesCloseFrames() async throws {
            let echo = EchoServer()
            try await Self.withProxy(to: echo.server) { url in
                let command = Peer.websockets.client(.closing, path: EchoServer.Path.task.rawValue, url: url)
                try await PeerProcess.run(command, environment: Peer.environment)
            }
            // A close without a code goes on as one.
            #expect(Set(echo.closes.received) == Set(Peer.websockets.closeFrames + [CloseFrame(code: nil)]))
        }
    }
}
