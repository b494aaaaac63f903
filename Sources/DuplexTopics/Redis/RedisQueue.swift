// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWire
import Synchronization

/// The commands that wait for a connection, bounded in number, bytes and time.
struct RedisQueue {
    /// Those of one caller, sent one right behind the other.
    struct Entry {
        var commands: [RedisCommand]
        /// The slot of their key, in a cluster.
        var slot: Int
        /// What a task that is cancelled knows it by.
        var id: UInt64
        var deadline: Instant
        /// Told the answer of the last one.
        var completion: RedisConnection.Completion

        var size: Int { commands.reduce(0) { $0 + $1.encodedCount } }
    }

    private let policy: RedisOptions.WhenDisconnected
    private var entries: Deque<Entry> = []
    private var bytes = 0

    init(_ policy: RedisOptions.WhenDisconnected) {
        self.policy = policy
    }

    /// How many wait.
    var count: Int { entries.count }

    /// When the first of them has waited long enough.
    var nextDeadline: Instant? { entries.first?.deadline }

    /// Keeps commands, or refuses them.
    ///
    /// - Returns: why they are refused.
    mutating func add(
        _ commands: [RedisCommand],
        slot: Int = 0,
        id: UInt64,
        now: Instant,
        _ completion: @escaping RedisConnection.Completion
    ) -> RedisError? {
        switch policy {
        case .fail: return RedisError(.unavailable, "There is no connection to Redis.")
        case .wait(let limit, let bytesLimit, let time):
            let deadline = now.advanced(by: time)
            let entry = Entry(commands: commands, slot: slot, id: id, deadline: deadline, completion: completion)
            guard entries.count < limit, entry.size <= bytesLimit.bytes - bytes else {
                let message = "There is no connection to Redis, and \(entries.count) commands wait for one already."
                return RedisError(.unavailable, message)
            }
            bytes += entry.size
            entries.append(entry)
            return nil
        }
    }

    /// Keeps what was taken out, behind what is there.
    mutating func putBack(_ entry: Entry) {
        bytes += entry.size
        entries.append(entry)
    }

    /// Takes the oldest out.
    mutating func next() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        bytes -= entry.size
        return entry
    }

    /// Takes the oldest out, if it has waited long enough.
    mutating func next(dueAt now: Instant) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        return next()
    }

    /// Takes one out whose task was cancelled.
    mutating func take(_ id: UInt64) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = entries.remove(at: index)
        bytes -= entry.size
        return entry
    }
}

/// The waits of tasks for commands.
enum RedisWait {
    private static let last = Atomic<UInt64>(0)

    /// An identity that no other wait of the process has: a command may go from one queue to another before it is cancelled.
    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// What a wait is ended with whose task was cancelled.
    static let cancelled = RedisError(.cancelled, "The task was cancelled.")

    /// Ends a wait with what came of the command.
    static func end(_ waiter: Waiter<RedisValue>, _ result: Result<RedisValue, RedisError>) {
        switch result {
        case .success(let value): waiter.resume(returning: value)
        case .failure(let error) where error.code == .cancelled: waiter.resume(throwing: CancellationError())
        case .failure(let error): waiter.resume(throwing: error)
        }
    }
}

/// The results of several commands that were sent one after the other, reported once all of them are answered.
final class RedisBatch {
    private var results: [Result<RedisValue, RedisError>] = []
    private let count: Int
    private let completion: ([Result<RedisValue, RedisError>]) -> Void

    /// - Parameters:
    ///   - count: how many commands; one at least.
    ///   - completion: called with the results in the order of the commands.
    init(_ count: Int, _ completion: @escaping ([Result<RedisValue, RedisError>]) -> Void) {
        self.count = count
        self.completion = completion
    }

    /// The next command has ended so.
    func add(_ result: Result<RedisValue, RedisError>) {
        results.append(result)
        if results.count == count { completion(results) }
    }
}
