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
        var waiter: CheckedContinuation<Socket?, Never>?
        var isClosed = false
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

    /// Adds a connection; one that comes after ``close()`` is dropped, which closes it, and so is one that finds as many
    /// again as there is room for: they were accepted before the inbox was full, and came through their handshakes since.
    func push(_ socket: Socket) {
        let waiter = state.withLock { state -> CheckedContinuation<Socket?, Never>? in
            if state.isClosed { return nil }
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter
            }
            if state.sockets.count < 2 * capacity { state.sockets.append(socket) }
            return nil
        }
        waiter?.resume(returning: socket)
    }

    /// The next connection; `nil` once the task is cancelled or the inbox closed.
    func next() async -> Socket? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isDone, socket) = state.withLock { state -> (Bool, Socket?) in
                    if state.isClosed || Task.isCancelled { return (true, nil) }
                    if let socket = state.sockets.popFirst() { return (true, socket) }
                    state.waiter = continuation
                    return (false, nil)
                }
                if isDone { continuation.resume(returning: socket) }
            }
        } onCancel: {
            close()
        }
    }

    /// Drops, and so closes, what waits; ends the wait.
    func close() {
        let (waiter, sockets) = state.withLock { state in
            state.isClosed = true
            defer {
                state.waiter = nil
                state.sockets = []
            }
            return (state.waiter, state.sockets)
        }
        waiter?.resume(returning: nil)
        _ = sockets
    }
}
