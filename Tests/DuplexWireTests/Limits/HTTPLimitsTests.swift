// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct HTTPLimitsTests {
    @Test("The default bounds what a stranger's requests can make this side hold")
    func internet() {
        let limits = HTTPLimits.internet
        #expect(limits.headSize == .kibibytes(16))
        #expect(limits.headFields == 100)
        #expect(limits.headTime == .seconds(10))
        #expect(limits.bodySize == .mebibytes(1))
        #expect(limits.bodyRate == 512)
    }

    @Test("Every preset bounds heads and slowness", arguments: [HTTPLimits.internet, .local, .unlimited])
    func alwaysBounded(limits: HTTPLimits) {
        #expect(limits.headSize <= .kibibytes(64))
        #expect(limits.headFields <= 200)
        #expect(limits.headTime <= .seconds(30))
        #expect(limits.bodyRate >= 512)
    }

    @Test("Changing one limit keeps the others")
    func changing() {
        var expected = HTTPLimits.internet
        expected.headTime = .seconds(3)
        #expect(HTTPLimits.internet.with(headTime: .seconds(3)) == expected)
        expected = .internet
        expected.bodySize = 7
        #expect(HTTPLimits.internet.with(bodySize: 7) == expected)
    }
}

@Suite("The pace of a body")
struct BodyPaceTests {
    private static let start = Instant(nanoseconds: 1_000)

    private static func pace(rate: ByteCount = 100) -> BodyPace {
        var limits = HTTPLimits.internet.with(headTime: .seconds(10))
        limits.bodyRate = rate
        return BodyPace(limits: limits, now: start)
    }

    private static func second(_ number: Int) -> Instant { start.advanced(by: .seconds(number)) }

    @Test("A body of which nothing comes has the time of a head")
    func silent() {
        #expect(Self.pace().deadline == Self.second(10))
    }

    @Test("A body that drips has no more time than one that doesn't come")
    func dripping() {
        var pace = Self.pace()
        for second in 1...9 { pace.received(1, now: Self.second(second)) }
        #expect(pace.deadline == Self.second(10))
    }

    @Test("Each second's worth of bytes is a second more, as long as they keep coming", arguments: [100, 250, 1_000])
    func steady(each: Int) {
        var pace = Self.pace()
        for second in 1...100 {
            pace.received(each, now: Self.second(second))
            #expect(pace.deadline == Self.second(second + 10))
        }
    }

    @Test("A body just below the rate is too slow in the end")
    func slightlyTooSlow() {
        var pace = Self.pace()
        var second = 0
        while Self.second(second) < pace.deadline && second < 10_000 {
            second += 1
            pace.received(99, now: Self.second(second))
        }
        // 10 seconds, and one for each whole 100 bytes.
        #expect(second == 901)
    }

    @Test("What came fast doesn't make up for silence")
    func burst() {
        var pace = Self.pace()
        pace.received(1_000_000, now: Self.second(1))
        #expect(pace.deadline == Self.second(11))
    }

    @Test("Without a rate each piece has the time of a head")
    func withoutRate() {
        var pace = Self.pace(rate: 0)
        for second in 1...100 { pace.received(1, now: Self.second(second)) }
        #expect(pace.deadline == Self.second(110))
    }
}
