// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("What round trips show")
struct LatencyTests {
    private func latency(_ milliseconds: [Int]) -> Latency {
        var latency = Latency()
        for time in milliseconds { latency.record(.milliseconds(time)) }
        return latency
    }

    @Test("Before the first there is nothing")
    func nothing() {
        let latency = Latency()
        #expect(latency.count == 0 && latency.last == nil && latency.minimum == nil)
        #expect(latency.smoothed == nil && latency.jitter == nil && latency.percentile(50) == nil)
    }

    @Test("The first is all of them, and says nothing of jitter")
    func first() {
        let latency = latency([40])
        #expect(latency.last == .milliseconds(40) && latency.minimum == .milliseconds(40))
        #expect(latency.smoothed == .milliseconds(40) && latency.jitter == nil)
        #expect(latency.percentile(1) == .milliseconds(40) && latency.percentile(100) == .milliseconds(40))
    }

    @Test("An eighth of each goes into the mean, a sixteenth of each difference into the jitter")
    func means() {
        let second = latency([80, 160])
        #expect(second.smoothed == .milliseconds(90))
        #expect(second.jitter == .milliseconds(80))
        let third = latency([80, 160, 160])
        #expect(third.smoothed == .microseconds(98_750))
        #expect(third.jitter == .milliseconds(75))
        #expect(third.minimum == .milliseconds(80) && third.last == .milliseconds(160) && third.count == 3)
    }

    @Test(
        "A percentile is one of those that were measured",
        arguments: [(1.0, 1), (50, 16), (51, 17), (90, 29), (99, 32), (100, 32)]
    )
    func percentiles(percent: Double, milliseconds: Int) {
        let latency = latency(Array((1...32).reversed()))
        #expect(latency.percentile(percent) == .milliseconds(milliseconds))
    }

    @Test("The oldest are forgotten, in the order in which they came; the shortest isn't")
    func recent() {
        var latency = latency([1] + Array(repeating: 10, count: 31))
        #expect(latency.percentile(1) == .milliseconds(1))
        latency.record(.milliseconds(10))
        #expect(latency.percentile(1) == .milliseconds(10))
        for time in 11...42 { latency.record(.milliseconds(time)) }
        #expect(latency.percentile(1) == .milliseconds(11) && latency.percentile(100) == .milliseconds(42))
        #expect(latency.minimum == .milliseconds(1) && latency.count == 65)
    }

    @Test("A round trip below zero, which a clock may seem to give, is none; one of hours doesn't trap")
    func extremes() {
        var latency = Latency()
        latency.record(.nanoseconds(-5))
        latency.record(.seconds(100_000))
        #expect(latency.minimum == .zero)
        #expect(latency.percentile(100) == .microseconds(UInt32.max))
    }
}
