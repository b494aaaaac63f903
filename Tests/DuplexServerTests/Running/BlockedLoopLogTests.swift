// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import Testing

@testable import DuplexServer

@Suite struct BlockedLoopLogTests {
    private let start = Instant(nanoseconds: 0)

    @Test("A route is named at once, and then once a minute at most, with how often it was and the longest time")
    func bounded() {
        var routes = BlockedRoutes()
        #expect(
            routes.count("GET /a", .seconds(1), now: start)
                == BlockedRoutes.Line(route: "GET /a", times: 1, longest: .seconds(1))
        )
        #expect(routes.count("GET /a", .seconds(3), now: start.advanced(by: .seconds(1))) == nil)
        #expect(routes.count("GET /a", .seconds(2), now: start.advanced(by: .seconds(59))) == nil)
        #expect(
            routes.count("GET /a", .seconds(1), now: start.advanced(by: .seconds(60)))
                == BlockedRoutes.Line(route: "GET /a", times: 3, longest: .seconds(3))
        )
        #expect(routes.count("GET /a", .seconds(1), now: start.advanced(by: .seconds(119))) == nil)
    }

    @Test("Each route has its own line, and what is no route's, too")
    func apart() {
        var routes = BlockedRoutes()
        #expect(routes.count("GET /a", .seconds(1), now: start) != nil)
        #expect(routes.count("GET /b", .seconds(1), now: start) != nil)
        #expect(routes.count(nil, .seconds(1), now: start)?.route == nil)
        #expect(routes.count(nil, .seconds(1), now: start) == nil)
    }

    @Test("The line is a warning with the route and the time")
    func line() {
        let log = RecordedLog()
        let blocks = BlockedLoopLog(log.logger)
        blocks.count("GET /a", .milliseconds(152))
        blocks.count(nil, .milliseconds(201))
        blocks.count("GET /a", .milliseconds(300))
        #expect(log.entries.map(\.level) == [.warning, .warning])
        #expect(log.entries.first?.message == "a handler has blocked its loop")
        #expect(log.entries.first?.metadata == ["route": "GET /a", "took": "152 ms"])
        #expect(log.entries.last?.metadata["route"] == nil)
    }
}
