// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import MetricsTestKit
import Testing

@testable import DuplexWebSockets

@Suite("What of one connection was reported")
struct ConnectionMetersTests {
    private let factory = TestMetrics()

    private func count(_ label: String) -> Int64 { factory.counterTotal(label: label) }

    @Test("A connection that was dropped is counted out once, as one that was closed is")
    func dropped() throws {
        let session = Session(role: .server, now: Instant(nanoseconds: 0))
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
        let session = Session(role: .server, now: Instant(nanoseconds: 0))
        let meters = ConnectionMeters(WebSocketMetrics(factory), session)
        meters.report()
        meters.ended()
        #expect(count("websocket_connections_closed") == 0)
        #expect(factory.counters(label: "websocket_messages").allSatisfy { $0.values.isEmpty })
    }
}
