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
