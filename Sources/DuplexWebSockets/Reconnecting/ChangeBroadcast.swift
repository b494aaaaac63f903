// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization

/// Tells any number of observers of a client's changes.
///
/// Each has a queue of its own: every change comes to it once and in order. One that falls more than ``limit`` changes
/// behind loses the oldest, which it sees by a gap in the numbers.
final class ChangeBroadcast: Sendable {
    /// The most changes that wait for one observer.
    static let limit = 1_024

    private struct State {
        var observers: [UInt64: AsyncStream<ReconnectChange>.Continuation] = [:]
        var lastID: UInt64 = 0
        var last: ReconnectChange?
        var isOver = false
    }

    private let state = Mutex(State())

    /// The changes from here on, behind the last one there was.
    func observe() -> AsyncStream<ReconnectChange> {
        let (stream, continuation) = AsyncStream<ReconnectChange>.makeStream(
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
    func tell(_ change: ReconnectChange) {
        state.withLock { state in
            state.last = change
            // With the lock held, so that whoever comes meanwhile gets each change once.
            for observer in state.observers.values { observer.yield(change) }
        }
    }

    /// Tells everybody that nothing more comes.
    func finish() {
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
    var count: Int { state.withLock { $0.observers.count } }
}
