// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestTimes
import Testing

@testable import DuplexWebSockets

@Suite struct WebSocketExtrasTests {
    @Test("An idle connection has none, and one that pings, watches or closes has", .timeLimit(minutes: 1))
    func onDemand() async throws {
        try await withPair { client, server in
            #expect(await server.hasNoExtras)
            try await client.send("hello")
            _ = try await server.receive()
            #expect(await server.hasNoExtras)
            _ = try await server.ping()
            #expect(await server.hasNoExtras == false)
            #expect(await server.nobodyWaits)
            await client.close()
        }
    }
}

extension WebSocket {
    fileprivate var hasNoExtras: Bool { extras == nil }
    fileprivate var nobodyWaits: Bool { pings.isEmpty && closers.isEmpty && latencyWatchers.isEmpty }
}
