// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Tells any number of observers of the changes of something, such as the state of a client.
///
/// Each has a queue of its own: every change comes to it once and in order. One that falls more than ``limit`` changes
/// behind loses the oldest.
package final class ChangeBroadcast<Change: Sendable>: Sendable {
    /// The most changes that wait for one observer.
    package static var limit: Int { 1_024 }

    private struct Observer {
        var continuation: AsyncStream<Change>.Continuation
        /// How many changes there were before it came.
        var since: UInt64
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var lastID: UInt64 = 0
        var last: Change?
        /// How many changes there were.
        var count: UInt64 = 0
        /// Changes that observers haven't got yet, the last one being ``last``.
        var waiting: Deque<Change> = []
        /// Whether somebody passes on what waits.
        var isPassing = false
        var isOver = false

        /// Whether the caller is to pass on what waits: somebody does already otherwise.
        mutating func beginPassing() -> Bool {
            defer { isPassing = true }
            return !isPassing
        }

        /// What is to be passed on next, and to whom; nothing once nobody waits for anything.
        mutating func next() -> Step? {
            guard let change = waiting.popFirst() else {
                isPassing = false
                guard isOver, !observers.isEmpty else { return nil }
                defer { observers = [:] }
                return .end(observers.values.map(\.continuation))
            }
            let number = count - UInt64(waiting.count)
            return .change(change, observers.values.filter { $0.since < number }.map(\.continuation))
        }
    }

    private enum Step {
        case change(Change, [AsyncStream<Change>.Continuation])
        case end([AsyncStream<Change>.Continuation])
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
            // Nobody waits for it yet.
            if let last = state.last { continuation.yield(last) }
            if state.isOver { return nil }
            state.lastID += 1
            state.observers[state.lastID] = Observer(continuation: continuation, since: state.count)
            return state.lastID
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Tells everybody; where another thread does so, it tells this behind its own.
    package func tell(_ change: Change) {
        let mayPass = state.withLock { state in
            state.last = change
            state.count += 1
            if state.waiting.count == Self.limit { state.waiting.removeFirst() }
            state.waiting.append(change)
            return state.beginPassing()
        }
        if mayPass { pass() }
    }

    /// Tells everybody that nothing more comes.
    package func finish() {
        let mayPass = state.withLock { state in
            state.isOver = true
            return state.beginPassing()
        }
        if mayPass { pass() }
    }

    /// Passes on what waits, and then the end.
    ///
    /// Without the lock: an observer's task that is cancelled holds one of its own while it takes this, and so does whoever
    /// resumes it.
    private func pass() {
        while let step = state.withLock({ $0.next() }) {
            switch step {
            case .change(let change, let observers): for observer in observers { observer.yield(change) }
            case .end(let observers): for observer in observers { observer.finish() }
            }
        }
    }

    private func remove(_ id: UInt64) {
        _ = state.withLock { $0.observers.removeValue(forKey: id) }
    }

    /// How many observe.
    package var count: Int { state.withLock { $0.observers.count } }
}
