// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Runs look-ups that block, on threads of their own: a bounded number at once, the others wait in a queue.
final class LookupThreads: Sendable {
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

    private let limit: Int
    private let state = Mutex(State())

    /// Threads that are started when there is something to do, and end when there is nothing.
    ///
    /// - Parameter limit: how many there are at most.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// How many look-ups wait for a thread.
    var waitingCount: Int {
        state.withLock { $0.waiting.count }
    }

    /// Has a look-up run as soon as there is a thread for it.
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

    /// Takes a look-up out of the queue; one that runs, or has run, is left alone.
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
                try LoopThread(name: "duplex-names").start { self.run(job) }
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

    /// The look-up that has waited longest; where there is none, the place of the caller's thread becomes free.
    private func takeNext() -> Job? {
        state.withLock { state in
            if state.waiting.isEmpty { state.running -= 1 }
            return state.waiting.popFirst()
        }
    }
}
