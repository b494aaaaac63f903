// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import Testing

@testable import DuplexWebSockets

@Suite("What only some connections have")
struct ConnectionRecordTests {
    @Test("A connection of a server that nobody observes has no record; a client's has its handshake")
    func kept() async throws {
        try await withPair { client, server in
            #expect(await Self.hasRecord(client))
            #expect(await !Self.hasRecord(server))
        }
    }

    private static func hasRecord(_ socket: isolated WebSocket) -> Bool { socket.record != nil }
}
