// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Synchronization

/// A call of a closure of the app: off the loops, with a deadline, and one at a time, which all who ask meanwhile share.
///
/// A closure that doesn't mind its cancellation goes on behind its deadline; it isn't called again until it has returned, so
/// one that never does costs one task.
final class AppCall<Value: Sendable>: Sendable {
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let work: @Sendable () async throws -> Value
    private let state = Mutex(State())

    private typealias Waiter = AsyncThrowingStream<Value, any Error>.Continuation

    private struct State {
        var task: Task<Void, Never>?
        var waiters: [UInt64: Waiter] = [:]
        var last: UInt64 = 0
    }

    /// - Parameters:
    ///   - limit: how long each who asks waits at most.
    ///   - clock: the time by which that goes. Default: the system's.
    ///   - work: the app's closure.
    init(
        within limit: Duration,
        on clock: any Clock<Duration> = ContinuousClock(),
        _ work: @escaping @Sendable () async throws -> Value
    ) {
        self.limit = limit
        self.clock = clock
        self.work = work
    }

    /// What the closure gives.
    ///
    /// - Returns: the value.
    /// - Throws: what it throws; `Problem` with 504 where it is late.
    func value() async throws -> Value {
        let (stream, waiter) = AsyncThrowingStream.makeStream(of: Value.self, bufferingPolicy: .bufferingOldest(1))
        let number = begin(waiter)
        let timer = Task.detached { [clock, limit] in
            try await clock.sleep(for: limit.forSleeping)
            waiter.finish(throwing: Problem(.gatewayTimeout, "The app hasn't answered within \(limit)."))
        }
        defer {
            timer.cancel()
            leave(number)
        }
        for try await value in stream { return value }
        throw CancellationError()
    }

    private func begin(_ waiter: Waiter) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiters[state.last] = waiter
            if state.task == nil { state.task = start() }
            return state.last
        }
    }

    private func start() -> Task<Void, Never> {
        Task.detached {
            do {
                self.finish(.success(try await self.work()))
            } catch {
                self.finish(.failure(error))
            }
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            if state.task?.isCancelled == true, !state.waiters.isEmpty {
                // Everybody had gone, and somebody has come before it was over.
                state.task = start()
                return [Waiter]()
            }
            state.task = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters {
            switch result {
            case .success(let value):
                waiter.yield(value)
                waiter.finish()
            case .failure(let error): waiter.finish(throwing: error)
            }
        }
    }

    /// Who has gone isn't waited for; once nobody waits any more, the closure is cancelled.
    private func leave(_ number: UInt64) {
        let task = state.withLock { state in
            guard state.waiters.removeValue(forKey: number) != nil, state.waiters.isEmpty else {
                return nil as Task<Void, Never>?
            }
            return state.task
        }
        task?.cancel()
    }
}

/// What an error of the app says, for the page.
enum AppFailure {
    static let limit = 4_000

    static func text(of error: any Error) -> String {
        let text = (error as? Problem)?.detail ?? (error is CancellationError ? "It was cancelled." : "\(error)")
        return String(text.prefix(limit))
    }
}
