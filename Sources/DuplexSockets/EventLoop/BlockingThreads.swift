// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Runs what blocks, such as look-ups of names, on threads of its own: a bounded number at once, the others wait in a
/// queue.
package final class BlockingThreads: Sendable {
    private struct Job {
        var id: UInt64
        var body: @Sendable () -> Void
        var onFailure: @Sendable (SocketError) -> Void
    }

    private struct State {
        var lastID: UInt64 = 0
        var running = 0
        /// In the order of their identities.
        var waiting: Deque<Job> = []
    }

    private let name: String
    private let limit: Int
    private let state = Mutex(State())

    /// Threads that are started when there is something to do, and end when there is nothing.
    ///
    /// - Parameters:
    ///   - name: of the threads.
    ///   - limit: how many there are at most.
    package init(name: String, limit: Int) {
        self.name = name
        self.limit = max(1, limit)
    }

    /// How many wait for a thread.
    package var waitingCount: Int {
        state.withLock { $0.waiting.count }
    }

    /// Runs something that blocks, and waits for it without blocking the caller's thread.
    ///
    /// One that is cancelled returns at once: if it still waits for a thread it never runs, if it runs its result is
    /// dropped when it comes.
    ///
    /// - Parameter body: what to run.
    /// - Returns: what it returned.
    /// - Throws: what it threw; ``SocketError`` when the system has no thread to give; `CancellationError`.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        let pending = PendingResult<Value>()
        let id = submit {
            pending.finish(Result { try body() })
        } onFailure: { error in
            pending.finish(Result<Value, SocketError>.failure(error))
        }
        return try await pending.value {
            withdraw(id)
            pending.finish(Result<Value, any Error>.failure(CancellationError()))
        }
    }

    /// Has something run as soon as there is a thread for it.
    ///
    /// - Parameters:
    ///   - body: what to run; it may block.
    ///   - onFailure: called instead when the system has no thread to give.
    /// - Returns: what ``withdraw(_:)`` takes.
    func submit(
        _ body: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (SocketError) -> Void
    ) -> UInt64 {
        let (job, mayStart) = state.withLock { state -> (Job, Bool) in
            state.lastID += 1
            let job = Job(id: state.lastID, body: body, onFailure: onFailure)
            if state.running < limit {
                state.running += 1
                return (job, true)
            }
            state.waiting.append(job)
            return (job, false)
        }
        if mayStart { start(job) }
        return job.id
    }

    /// Takes a job out of the queue; one that runs, or has run, is left alone.
    func withdraw(_ id: UInt64) {
        state.withLock { state in
            var (low, high) = (0, state.waiting.count)
            while low < high {
                let middle = (low + high) / 2
                if state.waiting[middle].id < id { low = middle + 1 } else { high = middle }
            }
            if low < state.waiting.count && state.waiting[low].id == id { state.waiting.remove(at: low) }
        }
    }

    private func start(_ first: Job) {
        var next: Job? = first
        while let job = next {
            do {
                try LoopThread(name: name).start { self.run(job) }
                return
            } catch {
                job.onFailure(error)
                next = takeNext()
            }
        }
    }

    private func run(_ first: Job) {
        var next: Job? = first
        while let job = next {
            job.body()
            next = takeNext()
        }
    }

    /// The job that has waited longest; where there is none, the place of the caller's thread becomes free.
    private func takeNext() -> Job? {
        state.withLock { state in
            if state.waiting.isEmpty { state.running -= 1 }
            return state.waiting.popFirst()
        }
    }
}
