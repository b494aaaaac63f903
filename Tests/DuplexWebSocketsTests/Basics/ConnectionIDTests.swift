// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import Testing

@testable import DuplexWebSockets

@Suite("What tells connections apart")
struct ConnectionIDTests {
    @Test("Each is new, later ones are greater, and it is short")
    func order() {
        let (one, other) = (ConnectionID.next(), ConnectionID.next())
        #expect(one < other && one != other)
        #expect(one.description == "ws-\(one.number)")
    }

    @Test("Both ends of a connection have one of their own")
    func ofConnections() async throws {
        try await withPair { client, server in
            #expect(client.id != server.id)
            #expect(await client.snapshot.id == client.id)
        }
    }
}
