// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import Testing

@Suite struct LoopServicesTests {
    @Test("Responses have the date of the second in which they are sent")
    func date() async throws {
        try await withServer { server in
            server.get("/") { _ in "" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let first = try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")["Date"]
            let date = try #require(first)
            #expect(date.hasSuffix(" GMT") && date.count == 29)
            // Asks until the second is another: the date moves on.
            while try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")["Date"] == first {}
        }
    }
}
