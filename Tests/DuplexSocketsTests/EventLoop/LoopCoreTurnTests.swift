// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("What takes longer than its share of a turn goes on in the next, in its order", .timeLimit(minutes: 1))
struct LoopCoreTurnTests {
    /// Counts turns as long as there is work, and notes in which of them each step was done.
    private final class Notes: TurnTarget {
        let core: LoopCore
        private var number = 0
        var steps: [(turn: Int, step: Int)] = []
        private let count: Int
        private let done: () -> Void

        init(_ core: LoopCore, _ count: Int, _ done: @escaping () -> Void) {
            (self.core, self.count, self.done) = (core, count, done)
        }

        func turn() {
            number += 1
            if steps.count < count { core.callNextTurn(self) } else { done() }
        }

        func did(_ step: Int) { steps.append((number, step)) }
    }

    private final class Alarm: TimerTarget {
        let fire: () -> Void
        init(_ fire: @escaping () -> Void) { self.fire = fire }
        func timerFired(_ timer: TimerID, now: Instant) { fire() }
    }

    private final class Output: LoopChannel {
        let send: () -> Void
        init(_ send: @escaping () -> Void) {
            self.send = send
            super.init()
        }
        override func flush() { send() }
    }

    private final class Input: DescriptorHandler {
        let receive: () -> Void
        init(_ receive: @escaping () -> Void) { self.receive = receive }
        func ready(_ readiness: Readiness) { receive() }
        func loopStopped() {}
    }

    /// Has steps done on a loop on which each look at the clock takes 5 ms.
    ///
    /// - Returns: how many steps each turn had, and whether they came in order.
    private func turns(
        _ count: Int,
        _ begin: @escaping @Sendable (LoopCore, EventLoop, @escaping (Int) -> Void) -> Void
    ) async throws -> (counts: [Int], isInOrder: Bool) {
        let time = ManualTime()
        let loop = try EventLoop(name: "turns", clock: .manual(time))
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<([Int], Bool), Never>) in
            loop.execute { core in
                time.pass(.milliseconds(5))
                var notes: Notes?
                let made = Notes(core, count) {
                    time.pass(.zero)
                    let steps = notes?.steps ?? []
                    notes = nil
                    var counts: [Int] = []
                    for (index, step) in steps.enumerated() {
                        if index == 0 || steps[index - 1].turn != step.turn { counts.append(0) }
                        counts[counts.count - 1] += 1
                    }
                    continuation.resume(returning: (counts, steps.map(\.step) == Array(0..<count)))
                }
                notes = made
                core.callNextTurn(made)
                begin(core, loop) { made.did($0) }
            }
        }
        await loop.stop()
        return result
    }

    @Test("Timers that are due")
    func timers() async throws {
        let found = try await turns(300) { core, _, step in
            let due = core.readClock()
            var alarms: [Alarm] = []
            for index in 0..<300 {
                let alarm = Alarm {
                    step(index)
                    withExtendedLifetime(alarms) {}
                    if index == 299 { alarms = [] }
                }
                alarms.append(alarm)
                _ = core.schedule(alarm, at: due.advanced(by: .milliseconds(1)))
            }
        }
        #expect(found.counts == [128, 128, 44])
    }

    private final class Ending: TimerTarget, Sendable {
        private let ended: AsyncStream<Never>.Continuation
        init(_ ended: AsyncStream<Never>.Continuation) { self.ended = ended }
        deinit { ended.finish() }
        func timerFired(_ timer: TimerID, now: Instant) {}
    }

    @Test("A timer that has fired keeps its target no longer, whether there is another turn or not")
    func firedTimers() async throws {
        let loop = try EventLoop(name: "fired")
        let (ends, ended) = AsyncStream<Never>.makeStream()
        loop.execute { core in
            let target = Ending(ended)
            _ = core.schedule(target, at: core.now.advanced(by: .milliseconds(1)), keepsTarget: true)
        }
        for await _ in ends {}
        await loop.stop()
    }

    @Test("Jobs that are ready")
    func jobs() async throws {
        let found = try await turns(300) { _, loop, step in
            let step = LoopBound(StepBox(step), on: loop.thread)
            for index in 0..<300 { Task(executorPreference: loop) { step.value.step(index) } }
        }
        // The runtime may make several jobs of a task that begins.
        #expect(found.counts.count > 2 && found.counts.allSatisfy { $0 <= 128 }, "\(found.counts)")
        #expect(found.isInOrder)
    }

    private final class StepBox {
        let step: (Int) -> Void
        init(_ step: @escaping (Int) -> Void) { self.step = step }
    }

    @Test("Output, with what is added meanwhile behind it")
    func output() async throws {
        let found = try await turns(301) { core, _, step in
            for index in 0..<300 {
                core.flushAtEndOfTurn(
                    Output {
                        step(index)
                        if index == 0 { core.flushAtEndOfTurn(Output { step(300) }) }
                    }
                )
            }
        }
        #expect(found.counts == [128, 128, 45] && found.isInOrder)
    }

    @Test("Descriptors that are ready")
    func events() async throws {
        let (near, far) = try Descriptors.pair()
        var copies: [Int32] = []
        for _ in 0..<200 { copies.append(dup(near)) }
        SystemCalls.close(far)
        // A process that is just being started may have a copy for a moment.
        try #require(Descriptors.isReady(near))
        let watched = copies
        let found = try await turns(200) { core, _, step in
            for descriptor in watched {
                let input = Input {
                    step(0)
                    core.unwatch(descriptor)
                }
                try? core.watch(descriptor, for: .readable, handler: input)
            }
        }
        for descriptor in copies + [near] { SystemCalls.close(descriptor) }
        #expect(found.counts == [128, 72])
    }
}
