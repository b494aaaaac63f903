// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// One caller's wait for something that goes on elsewhere.
///
/// Told once: of result, deadline and cancellation the first counts, and what comes later is dropped.
final class PendingResult<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        /// Handed over under the lock rather than by the continuation, so that sanitizers see the order, too.
        var result: Result<Value, any Error>?
    }

    private let state = Mutex(State())

    /// Ends the wait, from any thread.
    ///
    /// - Parameter result: what the caller gets, unless something came before.
    func finish(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.continuation.take()
        }
        continuation?.resume()
    }

    /// Ends the wait with what came of asking the system.
    func finish(_ result: Result<Value, SocketError>) {
        finish(result.mapError { $0 as any Error })
    }

    /// Waits for the end.
    ///
    /// - Parameter onCancel: called on any thread when the task is cancelled, perhaps after the end. It sees to it that
    ///   the wait is ended.
    /// - Returns: the value.
    /// - Throws: what the wait was ended with.
    func value(onCancel: @Sendable () -> Void) async throws -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.result != nil { return true }
                    state.continuation = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            onCancel()
        }
        guard let result = state.withLock({ $0.result }) else {
            preconditionFailure("A wait ended without a result.")
        }
        return try result.get()
    }
}

/// How something that ends once has ended, for the one task that waits for it, with the deadline that it must end by.
///
/// Kept in the loop-bound state of what ends. The end may come before anybody waits for it; one that comes after the
/// first is ignored.
package struct AwaitedEnd<Value: Sendable>: Sendable {
    private var waiter: Waiter<Value>?
    /// The end, if it came before anybody waited for it.
    private var early: Result<Value, any Error>?
    private var timer: TimerID?
    /// Whether it has ended.
    package private(set) var hasCome = false

    package init() {}

    /// Notifies the target when the deadline has passed, unless the end comes before it.
    package mutating func mustCome(by deadline: Instant, on core: LoopCore, or target: some TimerTarget) {
        timer = core.schedule(target, at: deadline)
    }

    /// Whether this timer is the deadline's; it is over then.
    package mutating func isDeadline(_ id: TimerID) -> Bool {
        guard id == timer else { return false }
        timer = nil
        return true
    }

    /// Keeps the waiter until the end, or resumes it when there is nothing to wait for any more.
    package mutating func wait(_ waiter: Waiter<Value>) {
        if let early { waiter.resume(with: early) } else { self.waiter = waiter }
    }

    /// It has ended so.
    package mutating func come(_ result: Result<Value, any Error>, on core: LoopCore) {
        guard !hasCome else { return }
        hasCome = true
        if let timer { core.cancel(timer) }
        timer = nil
        if let waiter {
            self.waiter = nil
            waiter.resume(with: result)
        } else {
            early = result
        }
    }
}

/// An actor on a loop that ends once, for the one task that waits for it.
package protocol EndsOnce: Actor {
    /// What it ends with.
    associatedtype Outcome: Sendable

    /// The loop that it lives on.
    nonisolated var loop: EventLoop { get }

    /// How it has ended, or will.
    var ending: AwaitedEnd<Outcome> { get set }

    /// Ends it with that error, unless it has ended.
    func fail(_ error: any Error)
}

extension EndsOnce {
    /// Waits for the end; cancelling is one.
    package func awaitEnd() async throws -> Outcome {
        try await waitOnLoop { waiter in
            ending.wait(waiter)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.fail(CancellationError()) } }
        }
    }
}
