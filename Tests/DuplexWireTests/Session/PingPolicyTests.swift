// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("When to ping")
struct PingPolicyTests {
    @Test("Interval and timeout are at least a millisecond", arguments: [Duration.zero, .seconds(-5), .nanoseconds(1)])
    func bounds(duration: Duration) {
        let pings = PingPolicy.every(duration, timeout: duration)
        #expect(pings.interval == .milliseconds(1))
        #expect(pings.timeout == .milliseconds(1))
    }

    @Test("What is asked for is kept")
    func values() {
        let pings = PingPolicy.every(.seconds(20), timeout: .seconds(7))
        #expect(pings.interval == .seconds(20))
        #expect(pings.timeout == .seconds(7))
        #expect(PingPolicy.disabled.interval == nil)
    }
}

@Suite("Round trips of pings")
struct LivenessTests {
    static func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    @Test("The payload of a ping is its identity in eight bytes")
    func payload() {
        #expect(SentPings.payload(1) == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(SentPings.payload(0x0102_0304_0506_0708) == [1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test("A pong answers its ping and those before it, once")
    func pongs() {
        let pings = SentPings()
        let ids = (0..<4).map { pings.next(now: Self.instant($0)) }
        #expect(ids == [1, 2, 3, 4])
        let answer = pings.pong(SentPings.payload(3), now: Self.instant(10))
        #expect(answer?.id == 3)
        #expect(answer?.roundTrip == .seconds(8))
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(pings.pong(SentPings.payload(id), now: Self.instant(11)) == nil)
        }
        #expect(pings.pong(SentPings.payload(4), now: Self.instant(11))?.roundTrip == .seconds(8))
    }

    @Test(
        "A pong that answers no ping says nothing",
        arguments: [[], [1], [0, 0, 0, 0, 0, 0, 0, 9], .init(repeating: 0, count: 9)] as [[UInt8]]
    )
    func foreign(payload: [UInt8]) {
        let pings = SentPings()
        _ = pings.next(now: Self.instant(0))
        #expect(pings.pong(payload, now: Self.instant(1)) == nil)
        #expect(pings.pong(SentPings.payload(1), now: Self.instant(1))?.id == 1)
    }

    @Test("Of the pings without a pong the last 32 are remembered")
    func bounded() {
        let pings = SentPings()
        for _ in 0..<100 { _ = pings.next(now: Self.instant(0)) }
        #expect(pings.pong(SentPings.payload(68), now: Self.instant(1)) == nil)
        #expect(pings.pong(SentPings.payload(69), now: Self.instant(1))?.id == 69)
    }

    /// Pings when they are due, answered or not, and tells the intervals between them.
    private func intervals(_ pings: PingPolicy, answers: [Bool]) -> [Int] {
        let times = PingTimes(pings)
        var liveness = Liveness(times, now: Self.instant(0))
        let sent = SentPings()
        var (last, intervals): (Instant, [Int]) = (Self.instant(0), [])
        for isAnswered in answers {
            guard let due = liveness.deadline(times, sent) else { break }
            let verdict = liveness.deadlinePassed(times, sent, now: due, lastHeard: due)
            guard case .ping = verdict else { break }
            intervals.append(Int(last.duration(to: due).components.seconds))
            last = due
            let id = sent.next(now: due)
            if isAnswered { _ = sent.pong(SentPings.payload(id), now: due) }
        }
        return intervals
    }

    @Test("Adaptive pings become rarer while they are answered, and frequent again when one isn't")
    func adaptive() {
        let pings = PingPolicy.adaptive(from: .seconds(16), to: .seconds(60), timeout: .seconds(1_000))
        let all = intervals(pings, answers: Array(repeating: true, count: 6))
        #expect(all == [16, 16, 24, 36, 54, 60])
        let some = intervals(pings, answers: [true, true, true, false, true, true])
        #expect(some == [16, 16, 24, 36, 54, 16])
    }

    @Test("Others stay as they are, whatever is answered")
    func constant() {
        let pings = PingPolicy.every(.seconds(20), timeout: .seconds(1_000))
        let all = intervals(pings, answers: [true, false, true, true])
        #expect(all == [20, 20, 20, 20])
    }
}

@Suite("An instant or none, in the room of an instant")
struct CompactInstantTests {
    @Test("It begins with none, keeps one, and takes none again")
    func keeping() {
        var compact = CompactInstant()
        #expect(compact.instant == nil)
        compact.instant = Instant(nanoseconds: -5)
        #expect(compact.instant == Instant(nanoseconds: -5))
        compact.instant = nil
        #expect(compact.instant == nil)
    }

    @Test("The end of time is none, and takes no more room than an instant")
    func end() {
        var compact = CompactInstant()
        compact.instant = Instant(nanoseconds: .max)
        #expect(compact.instant == nil)
        #expect(MemoryLayout<CompactInstant>.size == MemoryLayout<Instant>.size)
    }
}
