// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ConnectTimelineTests {
    private func timeline(
        _ outcome: ConnectTimeline.Outcome,
        names: Duration? = .milliseconds(3)
    ) throws -> ConnectTimeline {
        let attempt = ConnectTimeline.Attempt(
            address: try SocketAddress("192.0.2.1", port: 80),
            start: .milliseconds(3),
            end: .microseconds(12_340),
            outcome: outcome
        )
        return ConnectTimeline(nameLookup: names, attempts: [attempt], total: .microseconds(12_400))
    }

    @Test("The description has a line for each stage")
    func description() throws {
        #expect(
            try timeline(.connected).description
                == "names 0 ms to 3.0 ms\n192.0.2.1:80 3.0 ms to 12.3 ms: connected\nin all 12.4 ms"
        )
        let failed = try timeline(.failed(errno: 111), names: nil).description
        #expect(failed.hasPrefix("192.0.2.1:80 ") && failed.contains("failed (Connection refused, errno 111)"))
    }

    @Test("Timelines are equal when they tell the same")
    func equality() throws {
        #expect(try timeline(.connected) == timeline(.connected))
        #expect(try timeline(.connected).hashValue == timeline(.connected).hashValue)
        #expect(try timeline(.connected) != timeline(.timedOut))
        #expect(try timeline(.abandoned) != timeline(.abandoned, names: nil))
    }

    @Test("A socket without a timeline has one word for it")
    func size() {
        #expect(MemoryLayout<ConnectTimeline?>.size == MemoryLayout<Int>.size)
    }
}
