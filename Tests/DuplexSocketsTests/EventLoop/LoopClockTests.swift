// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("A loop's clock, the machine's or one that is moved by hand")
struct LoopClockTests {
    private final class Target: TimerTarget {
        let fired: (TimerID, Instant) -> Void

        init(_ fired: @escaping (TimerID, Instant) -> Void) {
            self.fired = fired
        }

        func timerFired(_ timer: TimerID, now: Instant) { fired(timer, now) }
    }

    /// What fired, and how far the time was moved then.
    private final class Notes {
        var fired: [Duration] = []
        var targets: [Target] = []
    }

    private static let start = Instant(nanoseconds: 5_000_000_001)

    private func withManualLoop(_ body: (EventLoop, LoopBound<Notes>) async throws -> Void) async throws {
        let clock = LoopClock.manual(ManualTime(start: Self.start))
        let loop = try EventLoop(name: "manual", poller: SystemPoller.make(), clock: clock)
        do {
            try await body(loop, LoopBound(Notes(), on: loop.thread))
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    private static func schedule(_ delays: [Duration], _ core: LoopCore, _ notes: Notes) {
        for delay in delays {
            let target = Target { _, now in notes.fired.append(Self.start.duration(to: now)) }
            notes.targets.append(target)
            _ = core.schedule(target, at: Self.start.advanced(by: delay))
        }
    }

    private static func move(_ loop: EventLoop, _ duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.execute { core in core.moveClock(by: duration) { continuation.resume() } }
        }
    }

    @Test("The machine's clock goes on, one that is moved by hand stands still, and never goes back")
    func clocks() {
        let before = Instant.now()
        #expect(LoopClock.system.now() >= before && !LoopClock.system.isManual)
        let time = ManualTime(start: Self.start)
        let clock = LoopClock.manual(time)
        #expect(clock.now() == Self.start && clock.isManual)
        time.set(Self.start.advanced(by: .seconds(1)))
        time.set(Self.start)
        #expect(clock.now() == Self.start.advanced(by: .seconds(1)))
    }

    @Test("Timers fire in order, to the nanosecond, and none before its time has come")
    func firing() async throws {
        try await withManualLoop { loop, notes in
            let delays: [Duration] = [.seconds(3_600), .milliseconds(1), .seconds(10), .nanoseconds(1), .seconds(10)]
            try await loop.run { Self.schedule(delays, $0, notes.value) }
            await Self.move(loop, .seconds(10) - .nanoseconds(1))
            #expect(try await loop.run { _ in notes.value.fired } == [.nanoseconds(1), .milliseconds(1)])
            await Self.move(loop, .nanoseconds(1))
            #expect(try await loop.run { _ in notes.value.fired }.count == 4)
            await Self.move(loop, .seconds(86_400))
            let fired = try await loop.run { _ in notes.value.fired }
            #expect(fired == delays.sorted())
            #expect(loop.clock.now() == Self.start.advanced(by: .seconds(86_410)))
            #expect(try await loop.run { $0.timerCount } == 0)
        }
    }

    @Test("What a timer starts fires in the same move when its time comes within it")
    func chain() async throws {
        try await withManualLoop { loop, notes in
            try await loop.run { core in
                let notes = notes.value
                let target = Target { [unowned notes] _, now in
                    notes.fired.append(Self.start.duration(to: now))
                    _ = core.schedule(notes.targets[0], at: now.advanced(by: .seconds(1)))
                }
                notes.targets = [target]
                _ = core.schedule(target, at: Self.start.advanced(by: .seconds(1)))
            }
            await Self.move(loop, .seconds(3) + .milliseconds(500))
            let fired = try await loop.run { _ in notes.value.fired }
            #expect(fired == [.seconds(1), .seconds(2), .seconds(3)])
        }
    }

    @Test("Tasks on the loop have come to their next wait when a move returns")
    func tasks() async throws {
        try await withManualLoop { loop, notes in
            let task = Task(executorPreference: loop) {
                for _ in 0..<50 { await Task.yield() }
                return try await loop.run { _ in 7 }
            }
            await Self.move(loop, .zero)
            let fired = try await loop.run { _ in notes.value.fired }
            let value = try await task.value
            #expect(fired.isEmpty && value == 7)
        }
    }

    @Test("Moves are made one after the other, and a loop that stops lets nobody wait")
    func moves() async throws {
        try await withManualLoop { loop, _ in
            async let first: Void = Self.move(loop, .seconds(1))
            async let second: Void = Self.move(loop, .seconds(2))
            _ = await (first, second)
            #expect(loop.clock.now() == Self.start.advanced(by: .seconds(3)))
            await loop.stop()
            await Self.move(loop, .seconds(1))
        }
        let loop = try EventLoop()
        // The machine's time can't be moved.
        await Self.move(loop, .seconds(1_000))
        await loop.stop()
    }
}
