// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import DuplexServer
import DuplexTestPeers
import DuplexWire
import MetricsTestKit
import Testing

@testable import DuplexWebSockets

@Suite("Where the numbers of connections go")
struct WebSocketMetricsTests {
    private static func total(
        _ metrics: TestMetrics,
        _ label: String,
        _ dimensions: (String, String)...
    ) throws -> Int64 {
        try metrics.expectCounter(label, dimensions).totalValue
    }

    @Test("Both sides report what they sent and received, how it was compressed, and how it ended")
    func bothSides() async throws {
        let factory = TestMetrics()
        let metrics = WebSocketMetrics(factory)
        let text = String(repeating: "again ", count: 1_000)
        var options = WebSocketOptions()
        options.metrics = metrics
        try await withPair(options: options) { server in
            server.webSockets.metrics = metrics
            server.webSockets.compression = .enabled
        } _: { client, server in
            for _ in 0..<3 { try await client.send(text) }
            for _ in 0..<3 { _ = try await server.receive() }
            #expect(try await client.ping() > .zero)
            let current = try factory.expectMeter("websocket_connections_current", [("role", "client")])
            #expect(current.values == [1])
            async let end = try? server.receive()
            await client.close()
            _ = await end
            #expect(current.values == [1, 0])
        }
        for (role, direction) in [("client", "out"), ("server", "in")] {
            let role = ("role", role)
            #expect(try Self.total(factory, "websocket_connections_opened", role) == 1)
            #expect(try Self.total(factory, "websocket_connections_closed", role) == 1)
            #expect(try Self.total(factory, "websocket_closes", role, ("code", "1000")) == 1)
            #expect(try Self.total(factory, "websocket_messages", role, ("direction", direction)) == 3)
            #expect(try Self.total(factory, "websocket_message_bytes", role, ("direction", direction)) == 18_000)
            let way = ("direction", direction)
            #expect(try Self.total(factory, "websocket_compressed_bytes", role, way, ("form", "plain")) == 18_000)
            let deflated = try Self.total(factory, "websocket_compressed_bytes", role, way, ("form", "deflated"))
            #expect(deflated > 0 && deflated < 1_000)
            #expect(try factory.expectTimer("websocket_opening", [role]).values.count == 1)
        }
        let ratio = try factory.expectRecorder("websocket_compression_ratio", [("role", "client")]).values
        #expect(ratio.count == 1 && ratio.allSatisfy { $0 > 0 && $0 < 0.1 })
        #expect(try factory.expectTimer("websocket_round_trip", [("role", "client")]).values.count == 1)
    }

    @Test("An open connection reports at each interval, with what waits")
    func intervals() async throws {
        let factory = TestMetrics()
        var metrics = WebSocketMetrics(factory, prefix: "ws", dimensions: [("place", "here")])
        metrics.interval = .milliseconds(1)
        var options = WebSocketOptions()
        options.metrics = metrics
        try await withPair(options: options) { client, _ in
            let dimensions = [("place", "here"), ("role", "client"), ("direction", "out")]
            for round in 1...2 {
                try await client.send([1, 2, 3])
                while try factory.expectCounter("ws_messages", dimensions).totalValue < round {
                    await nextTurn(of: client.loop)
                }
            }
            // Bytes and the queue are reported behind the messages, in the same turn.
            await nextTurn(of: client.loop)
            // Each message is reported once.
            #expect(try factory.expectCounter("ws_messages", dimensions).values == [1, 1])
            #expect(try factory.expectCounter("ws_message_bytes", dimensions).totalValue == 6)
            let depths = try factory.expectRecorder("ws_queued_bytes", [("place", "here"), ("role", "client")]).values
            #expect(depths.count >= 2)
        }
    }

    @Test("Close codes that peers make up are told apart up to a bound")
    func codes() throws {
        let factory = TestMetrics()
        let instruments = WebSocketMetrics(factory).instruments(.server)
        for code in 3_000..<4_000 { instruments.closes(CloseCode(rawValue: UInt16(code))).increment() }
        #expect(factory.counters(label: "websocket_closes").count == RoleInstruments.codeBound + 1)
        #expect(factory.counterTotal(label: "websocket_closes") == 1_000)
    }
}

@Suite("What of one connection was reported")
struct ConnectionMetersTests {
    private let factory = TestMetrics()

    private func count(_ label: String) -> Int64 { factory.counterTotal(label: label) }

    @Test("A connection that was dropped is counted out once, as one that was closed is")
    func dropped() throws {
        let session = WebSocketSession(role: .server, now: Instant(nanoseconds: 0))
        for isClosed in [false, true] {
            let meters = ConnectionMeters(WebSocketMetrics(factory), session)
            meters.opened(after: .milliseconds(3))
            if isClosed { meters.ended() }
        }
        #expect(count("websocket_connections_opened") == 2 && count("websocket_connections_closed") == 2)
        #expect(try factory.expectMeter("websocket_connections_current", [("role", "server")]).lastValue == 0)
        #expect(try factory.expectCounter("websocket_closes", [("role", "server"), ("code", "1006")]).totalValue == 2)
        #expect(try factory.expectTimer("websocket_opening", [("role", "server")]).values == [3_000_000, 3_000_000])
    }

    @Test("One that never opened isn't counted, and nothing is reported of what hasn't changed")
    func nothing() {
        let session = WebSocketSession(role: .server, now: Instant(nanoseconds: 0))
        let meters = ConnectionMeters(WebSocketMetrics(factory), session)
        meters.report()
        meters.ended()
        #expect(count("websocket_connections_closed") == 0)
        #expect(factory.counters(label: "websocket_messages").allSatisfy { $0.values.isEmpty })
    }
}
