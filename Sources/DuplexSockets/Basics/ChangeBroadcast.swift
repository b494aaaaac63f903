// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Tells any number of observers of the changes of something, such as the state of a client.
///
/// Each has a queue of its own: every change comes to it once and in order. One that falls more than ``limit`` changes
/// behind loses the oldest.
package final class ChangeBroadcast<Change: Sendable>: Sendable {
    /// The most changes that wait for one observer.
    package static var limit: Int { 1_024 }

    private struct State {
        var observers: [UInt64: AsyncStream<Change>.Continuation] = [:]
        var lastID: UInt64 = 0
        var last: Change?
        var isOver = false
    }

    private let state: Mutex<State>

    /// Makes one that nobody observes yet.
    ///
    /// - Parameter present: the value that the first observers get. Default: nothing until there is a change.
    package init(_ present: Change? = nil) {
        state = Mutex(State(last: present))
    }

    /// The last change there was.
    package var last: Change? { state.withLock { $0.last } }

    /// The changes from here on, behind the last one there was.
    package func observe() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream<Change>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.limit)
        )
        let id = state.withLock { state -> UInt64? in
            if let last = state.last { continuation.yield(last) }
            if state.isOver { return nil }
            state.lastID += 1
            state.observers[state.lastID] = continuation
            return state.lastID
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Tells everybody.
    package func tell(_ change: Change) {
        state.withLock { state in
            state.last = change
            // With the lock held, so that whoever comes meanwhile gets each change once.
            for observer in state.observers.values { observer.yield(change) }
        }
    }

    /// Tells everybody that nothing more comes.
    package func finish() {
        let observers = state.withLock { state in
            state.isOver = true
            defer { state.observers = [:] }
            return state.observers
        }
        for observer in observers.values { observer.finish() }
    }

    private func remove(_ id: UInt64) {
        state.withLock { $0.observers[id] = nil }
    }

    /// How many observe.
    package var count: Int { state.withLock { $0.observers.count } }
}
