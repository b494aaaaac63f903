// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization
import Testing

@Suite struct StepObserverTests {
    /// Keeps what it is told.
    private final class Recorder: StepObserver, Sendable {
        private let claimsAll: Bool
        private let told = Mutex<(tasks: Set<TaskIdentity>, calls: Int, longest: Duration, unclaimed: Int)>(
            ([], 0, .zero, 0)
        )

        init(claimsAll: Bool = true) { self.claimsAll = claimsAll }

        var tasks: Set<TaskIdentity> { told.withLock { $0.tasks } }
        var calls: Int { told.withLock { $0.calls } }
        var longest: Duration { told.withLock { $0.longest } }
        var unclaimed: Int { told.withLock { $0.unclaimed } }
        var isEmpty: Bool { tasks.isEmpty && calls == 0 && unclaimed == 0 }

        func claims(_ step: LoopStep, lasting duration: Duration) -> Bool {
            told.withLock { told in
                told.longest = max(told.longest, duration)
                switch step {
                case .task(let task): told.tasks.insert(task)
                case .call: told.calls += 1
                }
            }
            return claimsAll
        }

        func tookLong(_ duration: Duration) {
            told.withLock { $0.unclaimed += 1 }
        }
    }

    /// A threshold that every step reaches: one that begins between two ticks of the coarse clock seems to take less than none.
    private static let any = Duration.seconds(-1)

    private final class Alarm: TimerTarget, Sendable {
        let rang: AsyncStream<Void>.Continuation

        init(_ rang: AsyncStream<Void>.Continuation) { self.rang = rang }

        func timerFired(_ timer: TimerID, now: Instant) { rang.yield() }
    }

    private func onLoop(_ loop: EventLoop, _ body: @escaping @Sendable (LoopCore) -> Void) async {
        await withCheckedContinuation { continuation in
            loop.execute { core in
                body(core)
                continuation.resume()
            }
        }
    }

    /// Runs a task and a timer on a loop whose steps are observed.
    ///
    /// - Returns: the task.
    private func run(
        _ observers: [(Recorder, threshold: Duration)],
        _ work: @escaping @Sendable () -> Void = {}
    ) async throws -> TaskIdentity {
        let loop = try EventLoop()
        await onLoop(loop) { core in
            for (observer, threshold) in observers { core.observeSteps(observer, threshold: threshold) }
        }
        let task = await Task(executorPreference: loop) {
            work()
            return TaskIdentity.current
        }.value
        let (rings, rang) = AsyncStream<Void>.makeStream()
        let alarm = Alarm(rang)
        await onLoop(loop) { core in _ = core.schedule(alarm, at: core.now) }
        // A timer doesn't keep its target.
        for await _ in rings { break }
        withExtendedLifetime(alarm) {}
        await onLoop(loop) { core in for (observer, _) in observers { core.forgetSteps(observer) } }
        await loop.stop()
        return task
    }

    @Test("A job is told as its task's, and what is called as itself")
    func whose() async throws {
        let recorder = Recorder()
        let task = try await run([(recorder, Self.any)])
        #expect(recorder.tasks.contains(task))
        #expect(recorder.calls > 0)
    }

    @Test("A step that blocks is told with how long it took; a higher threshold isn't reached")
    func threshold() async throws {
        let patient = Recorder()
        let strict = Recorder()
        _ = try await run([(patient, .seconds(3_600)), (strict, .milliseconds(10))]) {
            let end = Instant.now().advanced(by: .milliseconds(30))
            while Instant.now() < end {}
        }
        #expect(patient.isEmpty)
        // The clock is as coarse as the ticks of the system.
        #expect(strict.longest >= .milliseconds(20))
    }

    @Test("Who doesn't claim a step leaves it to the next one; what nobody claims the first is told")
    func claiming() async throws {
        let first = Recorder(claimsAll: false)
        let second = Recorder()
        _ = try await run([(first, Self.any), (second, Self.any)])
        #expect(first.unclaimed == 0 && !second.tasks.isEmpty)
        let alone = Recorder(claimsAll: false)
        _ = try await run([(alone, Self.any)])
        #expect(alone.unclaimed > 0)
    }

    @Test("A part of a step can be told apart from the rest")
    func parts() async throws {
        let loop = try EventLoop()
        let recorder = Recorder()
        await onLoop(loop) { core in
            core.observeSteps(recorder, threshold: Self.any)
            core.endStep(of: recorder)
        }
        #expect(recorder.calls == 1)
        await onLoop(loop) { core in
            core.forgetSteps(recorder)
            core.endStep(of: recorder)
        }
        #expect(recorder.calls == 1)
        await loop.stop()
    }
}
