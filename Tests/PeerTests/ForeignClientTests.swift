// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

/// Tests with programs that others wrote.
///
/// Of each suite one test at a time, for they have much to keep busy; suites run beside one another, as most of each is
/// waiting for a process.
@Suite
enum PeerTests {}

extension PeerTests {
    /// Clients that others wrote, talking to our server.
    @Suite(.serialized)
    struct ForeignClientTests {
        @Test(
            "A foreign client gets on with our server",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases.flatMap { peer in peer.scenarios.map { (peer, $0) } },
            [WebSocketCompression.disabled, .enabled]
        )
        func getsOn(_ pair: (Peer, Scenario), _ compression: WebSocketCompression) async throws {
            let (peer, scenario) = pair
            try await EchoServer(compression: compression).server.withRunning { address in
                for path in EchoServer.Path.allCases {
                    let command = peer.client(scenario, path: path.rawValue, url: "ws://\(address)")
                    let output = try await PeerProcess.run(command, environment: Peer.environment)
                    #expect(output.hasPrefix("ok \(path.rawValue)"))
                }
            }
        }

        @Test(
            "Our server sees the code and the reason of every close frame",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases,
            EchoServer.Path.allCases
        )
        func seesCloseFrames(_ peer: Peer, _ path: EchoServer.Path) async throws {
            let echo = EchoServer()
            try await echo.server.withRunning { address in
                let command = peer.client(.closing, path: path.rawValue, url: "ws://\(address)")
                try await PeerProcess.run(command, environment: Peer.environment)
            }
            #expect(Set(echo.closes.received) == Set(peer.closeFrames + [CloseFrame(code: nil)]))
        }
    }
}
