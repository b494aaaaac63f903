// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

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
