// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

/// The time of a ``TestLoop`` as a clock of the standard library, for code that takes one: it stands still until the test
/// moves it.
public struct TestClock: Clock {
    /// A point in the loop's time.
    public struct Instant: InstantProtocol {
        /// How long after the beginning of the loop's time.
        public var offset: Duration

        /// Makes an instant.
        ///
        /// - Parameter offset: how long after the beginning of the loop's time.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The instant this much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// How much later the other one is.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether the left one comes first.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    private let loop: EventLoop

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// The loop's time.
    public var now: Instant { Instant(offset: .nanoseconds(loop.clock.now().nanoseconds)) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the time; see ``TestLoop/advance(by:)``.
    ///
    /// - Parameter duration: how far; a negative one is taken as zero.
    public func advance(by duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.execute { core in core.moveClock(by: duration) { continuation.resume() } }
        }
    }

    /// Waits until the time has been moved to an instant.
    ///
    /// - Parameters:
    ///   - deadline: the instant.
    ///   - tolerance: is of no account.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let sleep = Sleep(on: loop, until: DuplexBase.Instant(nanoseconds: 0).advanced(by: deadline.offset))
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleep.begin($0) }
        } onCancel: {
            sleep.end(with: .failure(CancellationError()))
        }
    }
}

/// One wait for an instant, begun anywhere.
private final class Sleep: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var isOver = false
        /// Kept here: a loop doesn't keep what its timers wake.
        var target: LoopBound<Target>?
    }

    private final class Target: TimerTarget {
        let sleep: Sleep

        init(_ sleep: Sleep) {
            self.sleep = sleep
        }

        func timerFired(_ timer: TimerID, now: DuplexBase.Instant) {
            sleep.end(with: .success(()))
        }
    }

    private let loop: EventLoop
    private let deadline: DuplexBase.Instant
    private let state = Mutex(State())

    init(on loop: EventLoop, until deadline: DuplexBase.Instant) {
        self.loop = loop
        self.deadline = deadline
    }

    func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return state.isOver
        }
        if isOver { return continuation.resume(throwing: CancellationError()) }
        loop.execute { [self] core in
            if core.readClock() >= deadline { return end(with: .success(())) }
            let target = Target(self)
            _ = core.schedule(target, at: deadline)
            let bound = LoopBound(target, on: loop.thread)
            state.withLock { if !$0.isOver { $0.target = bound } }
        }
    }

    func end(with result: Result<Void, any Error>) {
        let (continuation, target) = state.withLock { state in
            state.isOver = true
            return (state.continuation.take(), state.target.take())
        }
        continuation?.resume(with: result)
        _ = target
    }
}
