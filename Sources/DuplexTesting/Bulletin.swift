// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// A value that tasks wait for to become something.
///
/// Whoever waits looks at the value again after each change: for tests, where changes and waiters are few.
package final class Bulletin<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var version = 0
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Returns a result made from the value; a change of the value isn't announced.
    package func look<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { body(&$0.value) }
    }

    /// Changes the value, and has everybody who waits look at it.
    @discardableResult
    package func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, waiters) = state.withLock { state in
            let result = body(&state.value)
            state.version += 1
            defer { state.waiters = [:] }
            return (result, state.waiters)
        }
        for waiter in waiters.values { waiter.resume() }
        return result
    }

    /// Waits until `body` returns a result for the value.
    ///
    /// Changes that it makes to the value before that are kept, and not announced.
    ///
    /// - Throws: `CancellationError`.
    package func wait<Result: Sendable>(until body: (inout Value) -> Result?) async throws -> Result {
        while true {
            let (result, version) = state.withLock { (body(&$0.value), $0.version) }
            if let result { return result }
            await changed(since: version)
            try Task.checkCancellation()
        }
    }

    private func changed(since version: Int) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.version == version, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
