// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

extension PeerTests {
    /// The TLS of `duplex serve`, rated by testssl.sh.
    struct RatingTests {
        @Test("testssl.sh finds nothing that it rates medium or worse", .timeLimit(minutes: 16))
        func rating() async throws {
            let folder = NSTemporaryDirectory() + "duplex-rating-" + UUID().uuidString + "/"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            _ = try await PeerProcess.run([Peer.path("scripts/more/peers/make_test_ca"), folder])
            let files = ["--tls-cert", folder + "server.pem", "--tls-key", folder + "key.pem"]
            try await DuplexServe.withRunning(files) { server in
                #expect(server.url.hasPrefix("https://"))
                let check = [
                    Peer.path("scripts/more/peers/testssl_check"), "localhost:\(server.port)", folder + "ca.pem",
                ]
                let output = try await PeerProcess.run(check)
                #expect(output.contains("ok:"), "\(output)")
            }
        }
    }
}
