// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct RateLimitTests {
    private static func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("A burst passes at once, and what follows as the bucket fills")
    func bucket() {
        var bucket = RateBucket(.perSecond(10, burst: 3), now: Self.at(0))
        for _ in 0..<2 {
            bucket.charge(1, now: Self.at(0))
            #expect(bucket.nextInstant <= Self.at(0))
        }
        bucket.charge(1, now: Self.at(0))
        #expect(bucket.nextInstant > Self.at(0) && bucket.nextInstant <= Self.at(1))
        bucket.charge(1, now: Self.at(1))
        #expect(bucket.nextInstant > Self.at(100) && bucket.nextInstant <= Self.at(101))
        bucket.charge(1, now: Self.at(10_000))
        #expect(bucket.nextInstant <= Self.at(10_000))
    }

    @Test("More than there is can be taken out, and is paid for")
    func debt() {
        var bucket = RateBucket(.perSecond(1_000), now: Self.at(0))
        bucket.charge(0, now: Self.at(0))
        #expect(bucket.nextInstant < Self.at(0))
        bucket.charge(5_000, now: Self.at(0))
        #expect(bucket.nextInstant > Self.at(4_000) && bucket.nextInstant <= Self.at(4_001))
    }

    @Test("Over a long time the average holds, however much comes at once")
    func average() {
        for step in [1, 7, 1_000, 65_536] {
            var bucket = RateBucket(.perSecond(.kibibytes(64), burst: .kibibytes(4)), now: Self.at(0))
            var now = Self.at(0)
            var count = 0
            while count < 1 << 20 {
                bucket.charge(step, now: now)
                count += step
                now = max(now, bucket.nextInstant)
            }
            let seconds = Double(now.nanoseconds) / 1e9
            #expect(seconds > 15.9 && seconds < 17.1, "in steps of \(step)")
        }
    }

    @Test("Numbers below 1 are 1, and the largest do no harm")
    func extremes() {
        #expect(RateLimit.perSecond(0, burst: -1) == RateLimit.perSecond(1))
        var bucket = RateBucket(.perSecond(1, burst: .max), now: Self.at(0))
        bucket.charge(.max, now: Self.at(0))
        #expect(bucket.nextInstant <= Self.at(1))
        var slow = RateBucket(.perSecond(1), now: Self.at(0))
        slow.charge(.max, now: Self.at(0))
        slow.charge(.max, now: Self.at(0))
        #expect(slow.nextInstant > Self.at(1_000_000_000))
        var slowest = RateBucket(.perHour(1, burst: .max), now: Self.at(0))
        slowest.charge(.max, now: Self.at(0))
        #expect(slowest.nextInstant <= Self.at(1))
    }

    @Test("Either rate is enough to wait, and without one there is nothing to count")
    func both() {
        #expect(ReceivingRates(.internet, now: Self.at(0)) == nil)
        let limits = MessageLimits.internet.with(messageRate: .perSecond(10), byteRate: .perSecond(1_000))
        for (messages, bytes) in [(20, 10), (1, 2_000)] {
            var rates = ReceivingRates(limits, now: Self.at(0))
            let next = rates?.charge(messages: messages, bytes: bytes, now: Self.at(0))
            #expect(next.map { $0 > Self.at(999) && $0 <= Self.at(1_001) } == true)
        }
        var rates = ReceivingRates(limits, now: Self.at(0))
        let next = rates?.charge(messages: 9, bytes: 999, now: Self.at(0))
        #expect(next == nil)
    }

    @Test("A session counts messages and control frames that go the long way, and no continuation")
    func counting() {
        let session = WebSocketSession(role: .server, now: Self.at(0))
        session.countFrames()
        let frames = [
            PeerFrame.text("a").unfinished, .ping(""), .continuation([]).unfinished, .continuation([]), .pong([]),
            .ping(""), .binary([1]),
        ]
        _ = changed(frames.flatMap { $0.bytes(to: .server) }) { input in
            var position = 0
            while session.nextEvent(in: &input, at: &position, now: Self.at(0)) != nil {}
        }
        // The last one goes the short way.
        #expect(session.takeCountedFrames() == 4)
        #expect(session.takeCountedFrames() == 0)
    }

    @Test("What a charge costs is rounded up to the next nanosecond, and no further")
    func rounding() {
        var bucket = RateBucket(.perSecond(3, burst: 3), now: Self.at(0))
        bucket.charge(1, now: Self.at(0))
        #expect(bucket.nextInstant.nanoseconds == 333_333_334 - 1_000_000_000 + 1)
    }

    @Test("One more may come in its part of the time")
    func interval() {
        #expect(RateLimit.perSecond(10).interval == 100_000_000)
        #expect(RateLimit.perMinute(6).interval == 10_000_000_000)
        #expect(RateLimit.perHour(1).interval == 3_600_000_000_000)
        #expect(RateLimit.perSecond(.max).interval == 1)
    }

    @Test("What may come in a minute or an hour may come at once, and then as the bucket fills")
    func longer() {
        let limits: [(RateLimit, milliseconds: Int64)] = [(.perMinute(6), 10_000), (.perHour(6), 600_000)]
        for (limit, milliseconds) in limits {
            var bucket = RateBucket(limit, now: Self.at(0))
            bucket.charge(5, now: Self.at(0))
            #expect(bucket.nextInstant <= Self.at(0))
            bucket.charge(2, now: Self.at(0))
            #expect(bucket.nextInstant > Self.at(milliseconds) && bucket.nextInstant <= Self.at(milliseconds + 1))
        }
    }
}
