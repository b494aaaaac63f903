// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexServer

@Suite("Buckets of tokens")
struct TokenBucketsTests {
    private static let second: Int64 = 1_000_000_000

    private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1_000_000_000)) }

    @Test("A full bucket has its burst, then one token in each interval; a refused one costs nothing")
    func rate() {
        var buckets = TokenBuckets(interval: Self.second, burst: 3, capacity: 10)
        for _ in 0..<3 { #expect(buckets.take(1, now: instant(0)) == nil) }
        for _ in 0..<5 { #expect(buckets.take(1, now: instant(0)) == .seconds(1)) }
        #expect(buckets.take(1, now: instant(0.25)) == .milliseconds(750))
        #expect(buckets.take(1, now: instant(1)) == nil)
        #expect(buckets.take(1, now: instant(1)) == .seconds(1))
        // What comes back is no more than the bucket holds.
        for _ in 0..<3 { #expect(buckets.take(1, now: instant(100)) == nil) }
        #expect(buckets.take(1, now: instant(100)) == .seconds(1))
    }

    @Test("Each key has its own")
    func keys() {
        var buckets = TokenBuckets(interval: Self.second, burst: 1, capacity: 10)
        for key in 0..<4 { #expect(buckets.take(key, now: instant(0)) == nil) }
        for key in 0..<4 { #expect(buckets.take(key, now: instant(0)) == .seconds(1)) }
    }

    @Test("However many keys there are, no more are kept than may be, and who goes on asking stays limited")
    func bounded() {
        var buckets = TokenBuckets(interval: Self.second, burst: 1, capacity: 100)
        #expect(buckets.take(-1, now: instant(0)) == nil)
        for key in 0..<10_000 {
            #expect(buckets.take(key, now: instant(0)) == nil)
            #expect(buckets.count <= 100)
            #expect(buckets.take(-1, now: instant(0)) == .seconds(1))
        }
    }

    @Test("Keys whose buckets are full again go by and by, and lose nothing by it")
    func old() {
        var buckets = TokenBuckets(interval: Self.second, burst: 4, capacity: 1_000)
        for key in 0..<100 { #expect(buckets.take(key, now: instant(0)) == nil) }
        #expect(buckets.take(0, now: instant(4)) == nil)
        #expect(buckets.take(0, now: instant(12)) == nil)
        #expect(buckets.count == 1)
    }

    @Test("A key that changes tables keeps what it has taken", arguments: 1...60)
    func tables(step: Int) {
        // With each step of time, in which tables change at other places, as many are granted as the rate says.
        var buckets = TokenBuckets(interval: Self.second, burst: 2, capacity: 4)
        var granted = 0
        for tick in 0..<600 {
            let now = Instant(nanoseconds: Int64(tick) * Int64(step) * 10_000_000)
            if buckets.take(1, now: now) == nil { granted += 1 }
        }
        let seconds = 599 * step / 100
        #expect(granted == min(600, seconds + 2))
    }

    @Test("Numbers that are too large for the clock harm nothing")
    func extremes() {
        var buckets = TokenBuckets(interval: .max, burst: .max, capacity: 0)
        #expect(buckets.take(1, now: Instant(nanoseconds: .max)) == nil)
        #expect(buckets.take(2, now: Instant(nanoseconds: .max)) == nil)
        #expect(buckets.count <= 2)
    }

    @Test("All loops share one bound")
    func shared() {
        let buckets = SharedBuckets(interval: Self.second, burst: 1, capacity: 1_000)
        for key in 0..<10_000 { _ = buckets.take(key &* 0x9E37_79B9_7F4A_7C1, now: instant(0)) }
        #expect(buckets.count <= 1_000)
    }
}
