// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

/// Where a link to Redis stands.
enum RedisLinkState: Sendable, CustomStringConvertible {
    /// It hasn't begun.
    case idle
    /// An attempt is under way: the first since the last connection, or a later one.
    case connecting(attempt: Int)
    /// There is a connection to this server.
    case connected(RedisURL)
    /// The last attempt or connection has ended so, and the next attempt begins at that time of the loop's clock.
    case waiting(RedisError, until: Instant)
    /// It was closed on this side.
    case closed

    /// Whether commands are sent at once.
    var isConnected: Bool { if case .connected = self { true } else { false } }

    var description: String {
        switch self {
        case .idle: "idle"
        case .connecting(let attempt): "connecting, attempt \(attempt)"
        case .connected(let url): "connected to \(url)"
        case .waiting(let error, _): "waiting: \(error)"
        case .closed: "closed"
        }
    }
}

/// Tells any number of observers where a link stands.
///
/// Each gets the present state and then every change in order; one that falls more than ``limit`` changes behind loses the
/// oldest.
final class RedisLinkStates: Sendable {
    /// The most changes that wait for one observer.
    static let limit = 256

    private struct State {
        var observers: [UInt64: AsyncStream<RedisLinkState>.Continuation] = [:]
        var lastID: UInt64 = 0
        var present = RedisLinkState.idle
        var isOver = false
    }

    private let state = Mutex(State())

    /// Where the link stands.
    var present: RedisLinkState { state.withLock { $0.present } }

    /// The present state, and the changes behind it; ends behind ``RedisLinkState/closed``.
    func observe() -> AsyncStream<RedisLinkState> {
        let (stream, continuation) = AsyncStream<RedisLinkState>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.limit)
        )
        let id = state.withLock { state -> UInt64? in
            continuation.yield(state.present)
            if state.isOver { return nil }
            state.lastID += 1
            state.observers[state.lastID] = continuation
            return state.lastID
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.observers[id] = nil } }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Tells everybody.
    func tell(_ present: RedisLinkState) {
        state.withLock { state in
            state.present = present
            // With the lock held, so that whoever comes meanwhile gets each change once.
            for observer in state.observers.values { observer.yield(present) }
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
}
