// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import Testing

extension PeerTests {
    /// What a browser makes of the fields by which a server keeps pages of other sites away from its users.
    struct BrowserSafetyTests {
        @Test(
            "A browser keeps cookies, origins, forged forms, policies and hosts as the server asks",
            .timeLimit(minutes: 3),
            arguments: [
                ("cookies", 9), ("sharing", 13), ("forgery", 9), ("policies", 9), ("hosts", 2),
            ]
        )
        func safety(part: String, count: Int) async throws {
            try await withReservedPort { plain in
                try await withReservedPort { secured in
                    let shop = try ShopServer(plain: plain, secured: secured)
                    try await shop.server.withRunning { _ in
                        let script = Peer.path("Tests/PeerTests/Peers/web_safety.py")
                        let command = [Peer.python, script, part, "\(plain.port)", "\(secured.port)"]
                        let output = try await PeerProcess.run(command, environment: Peer.environment)
                        let lines = output.split(separator: "\n")
                        #expect(lines.count == count && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
                    }
                }
            }
        }
    }
}
