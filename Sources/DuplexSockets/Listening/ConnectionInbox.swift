// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Hands connections from the loops that accepted them to the one task that waits for them.
///
/// Bounded: while it is full, its listener accepts nothing, and connections wait in the system's backlog.
final class ConnectionInbox: Sendable {
    private struct State {
        var sockets: Deque<Socket> = []
        var waiter: CheckedContinuation<Void, Never>?
        var isClosed = false
        /// Whether what waits is all that comes.
        var isFinished = false
        var failure: SocketError?
    }

    /// How many connections wait at most.
    static let standardCapacity = 256

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = standardCapacity) {
        self.capacity = capacity
    }

    /// Whether no further connection should be accepted for now.
    var isFull: Bool { state.withLock { $0.sockets.count >= capacity } }

    /// Why it was closed, where nobody asked for that.
    var failure: SocketError? { state.withLock(\.failure) }

    /// Whether ``finish()`` was called, and what waited then has been taken.
    var isExhausted: Bool { state.withLock { $0.isFinished && $0.sockets.isEmpty } }

    /// Adds a connection; one that comes after ``close()`` or ``finish()`` is dropped, which closes it, and so is one that finds as
    /// many again as there is room for: they were accepted before the inbox was full, and came through their handshakes since.
    ///
    /// Also one that is waited for goes through the lock, which orders its making before its use where a sanitizer sees it.
    func push(_ socket: Socket) {
        let waiter = state.withLock { state in
            if !state.isClosed && !state.isFinished && state.sockets.count < 2 * capacity {
                state.sockets.append(socket)
            }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// The next connection; `nil` once the task is cancelled, the inbox is closed, or it is finished and empty.
    func next() async -> Socket? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isClosed || state.isFinished || Task.isCancelled || !state.sockets.isEmpty { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
            return state.withLock { $0.isClosed || Task.isCancelled ? nil : $0.sockets.popFirst() }
        } onCancel: {
            close()
        }
    }

    /// Takes no more, and ends the wait when there is nothing; what waits can still be taken.
    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Drops, and so closes, what waits; ends the wait.
    ///
    /// - Parameter failure: why nothing comes any more, where nobody asked for that; the first one counts.
    func close(_ failure: SocketError? = nil) {
        let (waiter, sockets) = state.withLock { state in
            if !state.isClosed { state.failure = failure }
            state.isClosed = true
            defer { state.sockets = [] }
            return (state.waiter.take(), state.sockets)
        }
        waiter?.resume()
        _ = sockets
    }
}
