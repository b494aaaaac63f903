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

    /// Adds a connection; one that comes after ``close()`` is dropped, which closes it, and so is one that finds as many
    /// again as there is room for: they were accepted before the inbox was full, and came through their handshakes since.
    ///
    /// Also one that is waited for goes through the lock, which orders its making before its use where a sanitizer sees it.
    func push(_ socket: Socket) {
        let waiter = state.withLock { state in
            if !state.isClosed && state.sockets.count < 2 * capacity { state.sockets.append(socket) }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// The next connection; `nil` once the task is cancelled or the inbox closed.
    func next() async -> Socket? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isClosed || Task.isCancelled || !state.sockets.isEmpty { return true }
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
