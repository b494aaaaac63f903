// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import InMemoryTracing
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

    /// What belongs to a connection, kept weakly.
    private struct Remains: Sendable {
        weak let socket: WebSocket?
        weak let span: ConnectionSpan?

        init(of socket: isolated WebSocket) {
            self.socket = socket
            span = socket.record?.observation.span
        }

        var areThere: Bool { socket != nil || span != nil }
    }

    @Test("What observes a connection goes with it, on both sides, and its spans have ended", arguments: [false, true])
    func gone(isDropped: Bool) async throws {
        let tracer = InMemoryTracer()
        let remains = try await Self.talk(tracer, isDropped: isDropped)
        #expect(remains.count == 2)
        let areGone = await comesTrue { !remains.contains { $0.areThere } && tracer.activeSpans.isEmpty }
        #expect(areGone)
        #expect(tracer.finishedSpans.count == 4)
    }

    private static func talk(_ tracer: InMemoryTracer, isDropped: Bool) async throws -> [Remains] {
        var options = WebSocketOptions()
        options.tracer = tracer
        return try await withPair(options: options) {
            $0.tracer = tracer
        } _: { client, server in
            let remains = [await Remains(of: client), await Remains(of: server)]
            #expect(remains.allSatisfy { $0.span != nil })
            if !isDropped { await client.close() }
            return remains
        }
    }

    private static func hasRecord(_ socket: isolated WebSocket) -> Bool { socket.record != nil }
}
