// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

extension PeerTests {
    /// The page of `duplex serve` in a real browser.
    struct BrowserTests {
        @Test(
            "A person with a browser can talk to the echo and in the chat room, with and without compression",
            .timeLimit(minutes: 3),
            arguments: ["off", "required"]
        )
        func page(compression: String) async throws {
            try await DuplexServe.withRunning(["--compression", compression]) { server in
                let check = [
                    Peer.python, Peer.path("scripts/more/peers/browser_check.py"), server.url, "--deadline", "120",
                ]
                let output = try await PeerProcess.run(check, environment: Peer.environment)
                let lines = output.split(separator: "\n")
                #expect(lines.count >= 10 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
            }
        }
    }
}
