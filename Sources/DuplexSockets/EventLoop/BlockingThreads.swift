// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Runs what blocks, such as look-ups of names, on threads of its own: a bounded number at once, the others wait in a
/// queue.
///
/// Who asks for much delays nobody else: each client has a queue of its own, the queues take turns, and one client never has all
/// threads.
package final class BlockingThreads: Sendable {
    /// On whose behalf something runs.
    package struct Share: Hashable, Sendable {
        private let number: Int

        /// Equal values are the same client.
        package init(_ client: some Hashable) {
            var hasher = Hasher()
            hasher.combine(client)
            number = hasher.finalize()
        }
    }

    /// Takes a job back.
    struct Ticket {
        fileprivate let id: UInt64
        fileprivate let share: Share?
    }

    private struct Job {
        var id: UInt64
        var share: Share?
        var body: @Sendable () -> Void
        var onFailure: @Sendable (SocketError) -> Void
    }

    /// The share of what the current task asks for; `nil` for the app itself.
    @TaskLocal package static var share: Share?

    private struct State {
        var lastID: UInt64 = 0
        var running = 0
        var runningOf: [Share?: Int] = [:]
        /// In the order of their identities.
        var waiting: [Share?: Deque<Job>] = [:]
        var waitingCount = 0
        /// The keys of `waiting`, the next one first.
        var turns: Deque<Share?> = []

        mutating func begin(_ job: Job) {
            running += 1
            runningOf[job.share, default: 0] += 1
        }

        mutating func end(_ share: Share?) {
            running -= 1
            guard let count = runningOf[share] else { return }
            runningOf[share] = count > 1 ? count - 1 : nil
        }

        mutating func enqueue(_ job: Job) {
            waitingCount += 1
            if waiting[job.share] == nil { turns.append(job.share) }
            waiting[job.share, default: []].append(job)
        }

        mutating func remove(_ ticket: Ticket) {
            // An empty queue stays until it has its turn.
            guard var jobs = waiting.removeValue(forKey: ticket.share) else { return }
            var (low, high) = (0, jobs.count)
            while low < high {
                let middle = (low + high) / 2
                if jobs[middle].id < ticket.id { low = middle + 1 } else { high = middle }
            }
            if low < jobs.count && jobs[low].id == ticket.id {
                jobs.remove(at: low)
                waitingCount -= 1
            }
            waiting[ticket.share] = jobs
        }

        /// The next job of those that have less than their bound.
        mutating func dequeue(bound: (Share?) -> Int) -> Job? {
            // As many at most as there are threads.
            var full: [Share?] = []
            defer { turns.prepend(contentsOf: full) }
            while let share = turns.popFirst() {
                if runningOf[share, default: 0] >= bound(share) {
                    full.append(share)
                    continue
                }
                guard var jobs = waiting.removeValue(forKey: share), let job = jobs.popFirst() else { continue }
                if !jobs.isEmpty {
                    waiting[share] = jobs
                    turns.append(share)
                }
                waitingCount -= 1
                return job
            }
            return nil
        }
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
        state.withLock { $0.waitingCount }
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
        let ticket = submit {
            pending.finish(Result { try body() })
        } onFailure: { error in
            pending.finish(Result<Value, SocketError>.failure(error))
        }
        return try await pending.value {
            withdraw(ticket)
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
    ) -> Ticket {
        let share = Self.share
        let (job, mayStart) = state.withLock { state -> (Job, Bool) in
            state.lastID += 1
            let job = Job(id: state.lastID, share: share, body: body, onFailure: onFailure)
            if state.running < limit && state.runningOf[share, default: 0] < bound(share) {
                state.begin(job)
                return (job, true)
            }
            state.enqueue(job)
            return (job, false)
        }
        if mayStart { start(job) }
        return Ticket(id: job.id, share: share)
    }

    /// Takes a job out of the queue; one that runs, or has run, is left alone.
    func withdraw(_ ticket: Ticket) {
        state.withLock { $0.remove(ticket) }
    }

    /// How many threads a share may have: one is left for others.
    private func bound(_ share: Share?) -> Int {
        share == nil ? limit : max(1, limit - 1)
    }

    private func start(_ first: Job) {
        var next: Job? = first
        while let job = next {
            do {
                try LoopThread(name: name).start { self.run(job) }
                return
            } catch {
                job.onFailure(error)
                next = takeNext(after: job)
            }
        }
    }

    private func run(_ first: Job) {
        var next: Job? = first
        while let job = next {
            job.body()
            next = takeNext(after: job)
        }
    }

    /// The next job; where there is none, the place of the caller's thread becomes free.
    private func takeNext(after job: Job) -> Job? {
        state.withLock { state in
            state.end(job.share)
            let next = state.dequeue(bound: bound)
            if let next { state.begin(next) }
            return next
        }
    }

    // MARK: The threads that wait for disks

    /// Four at most, for all files of the process.
    ///
    /// The threads of Swift's tasks are as many as there are cores: a disk that is slow would take them away from everybody.
    package static let files = BlockingThreads(name: "duplex-files", limit: 4)

    /// Runs a call to its end, also where the caller is cancelled: so the state of a file is known.
    ///
    /// - Parameter body: the call.
    /// - Returns: what it returned.
    /// - Throws: ``SocketError`` of the call, or when the system has no thread to give.
    package func runToEnd<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SocketError) -> Value
    ) async throws -> Value {
        let pending = PendingResult<Value>()
        _ = submit {
            pending.finish(Result { () throws(SocketError) in try body() })
        } onFailure: { error in
            pending.finish(Result<Value, SocketError>.failure(error))
        }
        return try await pending.value {}
    }

    /// Has a call run for which nobody waits; where there is no thread to give it is run here: late is better than never.
    package func run(unawaited body: @escaping @Sendable () -> Void) {
        _ = submit(body, onFailure: { _ in body() })
    }
}
