// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

/// The wheel is handed every instant, so these tests move time by adding to a number.
@Suite struct TimerWheelTests {
    private final class Target: TimerTarget {
        func timerFired(_ timer: TimerID, now: Instant) {}
    }

    private static let start = Instant(nanoseconds: 1_000_000_000_000)
    /// One tick: timers fire at most this much late.
    private static let tick = Duration.nanoseconds(1 << 22)

    private func due(_ wheel: inout TimerWheel, at instant: Instant) -> [TimerID] {
        var due: [DueTimer] = []
        wheel.advance(to: instant, into: &due)
        return due.map(\.id)
    }

    @Test(
        "A timer is never early and at most one tick late",
        arguments: [
            Duration.zero, .nanoseconds(1), .milliseconds(1), .milliseconds(5), .milliseconds(250), .milliseconds(268),
            .seconds(1), .seconds(17), .seconds(18), .seconds(20), .seconds(1_099), .seconds(1_100), .seconds(70_000),
            .seconds(90_000), .seconds(1_000_000),
        ]
    )
    func precision(delay: Duration) {
        let target = Target()
        var wheel = TimerWheel(now: Self.start)
        let deadline = Self.start.advanced(by: delay)
        let timer = wheel.schedule(target, at: deadline)
        #expect(due(&wheel, at: deadline.advanced(by: .nanoseconds(-1))) == [])
        #expect(wheel.count == 1)
        #expect(due(&wheel, at: deadline.advanced(by: Self.tick)) == [timer])
        #expect(wheel.count == 0)
        #expect(wheel.nextInstant == nil)
    }

    @Test("Waking at each next instant brings every timer in order, in few steps", arguments: UInt64(1)...20)
    func wakingUp(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let target = Target()
        var wheel = TimerWheel(now: Self.start)
        var deadlines: [TimerID: Instant] = [:]
        for _ in 0..<200 {
            let delay = Duration.nanoseconds(Int64.random(in: 0..<(1 << Int64.random(in: 20...45)), using: &random))
            let deadline = Self.start.advanced(by: delay)
            deadlines[wheel.schedule(target, at: deadline)] = deadline
        }
        var steps = 0
        var last = Self.start
        while let next = wheel.nextInstant {
            #expect(next > last)
            last = next
            steps += 1
            for timer in due(&wheel, at: next) {
                let deadline = deadlines.removeValue(forKey: timer)
                let lateness = deadline.map { $0.duration(to: next) } ?? .seconds(1_000)
                #expect(lateness >= .zero && lateness <= Self.tick)
            }
        }
        #expect(deadlines.isEmpty)
        #expect(steps < 200 * 5)
    }

    @Test("A cancelled timer doesn't fire, and cancelling twice or late harms nobody")
    func cancelling() {
        let target = Target()
        var wheel = TimerWheel(now: Self.start)
        let first = wheel.schedule(target, at: Self.start.advanced(by: .seconds(1)))
        let second = wheel.schedule(target, at: Self.start.advanced(by: .seconds(1)))
        wheel.cancel(first)
        wheel.cancel(first)
        let third = wheel.schedule(target, at: Self.start.advanced(by: .seconds(1)))
        wheel.cancel(first)
        #expect(wheel.count == 2)
        #expect(Set(due(&wheel, at: Self.start.advanced(by: .seconds(2)))) == [second, third])
        wheel.cancel(second)
        #expect(wheel.count == 0)
    }

    @Test("A timer has a deadline until it is given out or cancelled, and no timer has none")
    func deadlines() {
        let target = Target()
        var wheel = TimerWheel(now: Self.start)
        let instants = [1, 2].map { Self.start.advanced(by: .seconds($0)) }
        let timers = instants.map { wheel.schedule(target, at: $0) }
        #expect(timers.map { wheel.deadline(of: $0) } == instants)
        #expect(wheel.deadline(of: .none) == nil)
        wheel.cancel(timers[1])
        #expect(due(&wheel, at: instants[1]) == [timers[0]])
        #expect(timers.allSatisfy { wheel.deadline(of: $0) == nil })
        // Their places are another's now.
        _ = (wheel.schedule(target, at: instants[0]), wheel.schedule(target, at: instants[0]))
        #expect(timers.allSatisfy { wheel.deadline(of: $0) == nil })
    }

    @Test("Timers survive random scheduling, cancelling and jumps of time", arguments: UInt64(1)...20)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let target = Target()
        var wheel = TimerWheel(now: Self.start)
        var now = Self.start
        var waiting: [TimerID: Instant] = [:]
        for _ in 0..<2_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let delay = Duration.nanoseconds(Int64.random(in: 0..<(1 << Int64.random(in: 1...44)), using: &random))
                waiting[wheel.schedule(target, at: now.advanced(by: delay))] = now.advanced(by: delay)
            case 2:
                if let timer = waiting.keys.randomElement(using: &random) {
                    wheel.cancel(timer)
                    waiting[timer] = nil
                }
            default:
                now = now.advanced(
                    by: .nanoseconds(Int64.random(in: 0..<(1 << Int64.random(in: 1...42)), using: &random))
                )
                for timer in due(&wheel, at: now) {
                    let deadline = waiting.removeValue(forKey: timer)
                    #expect(deadline.map { $0 <= now } == true)
                }
                #expect(waiting.values.allSatisfy { $0.advanced(by: Self.tick) >= now })
            }
            #expect(wheel.count == waiting.count)
        }
    }

    @Test("A target that is gone isn't woken and its place is used again")
    func deadTarget() {
        var wheel = TimerWheel(now: Self.start)
        let timer = wheel.schedule(Target(), at: Self.start.advanced(by: .seconds(1)))
        #expect(due(&wheel, at: Self.start.advanced(by: .seconds(2))) == [])
        #expect(wheel.count == 0)
        wheel.cancel(timer)
        #expect(wheel.count == 0)
    }

    @Test("A target that is kept lives until its timer has fired or was cancelled")
    func keptTarget() {
        var wheel = TimerWheel(now: Self.start)
        weak var fired: Target?
        weak var cancelled: Target?
        func schedule(_ target: Target) -> TimerID {
            wheel.schedule(target, at: Self.start.advanced(by: .seconds(1)), keepsTarget: true)
        }
        let first = {
            let target = Target()
            fired = target
            return schedule(target)
        }()
        let second = {
            let target = Target()
            cancelled = target
            return schedule(target)
        }()
        #expect(fired != nil && cancelled != nil)
        wheel.cancel(second)
        #expect(cancelled == nil)
        #expect(due(&wheel, at: Self.start.advanced(by: .seconds(2))) == [first])
        #expect(fired == nil)
    }
}
