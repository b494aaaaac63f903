// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Changes of the network as they come, from the moment on at which the sequence was asked for.
///
/// Up to 256 changes wait for a reader; a change that waits already moves to the end instead of waiting twice. Beyond
/// that all become one ``NetworkChange/missed``. Ends when the monitor is stopped; throws ``SocketError`` when it can't
/// go on, such as with ``SocketError/Code/loopStopped``, and `CancellationError`. Of several tasks that read one
/// sequence, each change goes to one.
public struct NetworkChanges: AsyncSequence, Sendable {
    /// What is read.
    public typealias Element = NetworkChange

    let queue: NetworkChangeQueue
    /// Kept, so that it goes on for as long as somebody reads.
    let monitor: NetworkMonitor?

    /// Reads one change after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let changes: NetworkChanges

        /// The next change; `nil` once the monitor was stopped.
        public mutating func next() async throws -> NetworkChange? {
            try await changes.queue.next()
        }
    }

    /// Begins to iterate.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: self)
    }
}

/// Keeps the changes that one reader hasn't taken, and those who wait for the next.
final class NetworkChangeQueue: NetworkListener {
    private struct State {
        var pending = PendingChanges()
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastID: UInt64 = 0
        var end: Result<Void, SocketError>?

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state = Mutex(State())

    /// How many tasks wait.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    func changed(_ changes: [NetworkChange]) {
        let waiters = state.withLock { state in
            for change in changes { state.pending.add(change) }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    func ended(_ error: SocketError?) {
        let waiters = state.withLock { state in
            state.end = error.map { .failure($0) } ?? .success(())
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The next change, or the end, behind what still waits.
    func next() async throws -> NetworkChange? {
        while true {
            try Task.checkCancellation()
            let (change, end) = state.withLock { state in (state.pending.next(), state.end) }
            if let change { return change }
            if let end {
                try end.get()
                return nil
            }
            await wait()
        }
    }

    private func wait() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.pending.changes.isEmpty, state.end == nil, !Task.isCancelled else { return false }
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
