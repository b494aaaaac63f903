// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Synchronization

/// Counts who fails to show who they are, by their addresses, and turns them away for a while.
final class FailureThrottle: Sendable {
    private struct State {
        var table: FailureTable
        /// Those who wait for others of their network to be judged, by numbers.
        var waiters: [[UInt8]: [UInt64: AsyncStream<Void>.Continuation]] = [:]
        var waiterCount = 0
        var number: UInt64 = 0
    }

    private enum Step {
        case judge
        case refuse(Duration)
        case wait(UInt64, AsyncStream<Void>)
    }

    private let state: Mutex<State>

    /// The most requests that wait for others to be judged.
    static let waiterBound = 1_000
    /// For how long one waits.
    static let patience = Duration.seconds(10)

    init(limit: Int, window: Duration) {
        state = Mutex(State(table: FailureTable(limit: limit, window: window)))
    }

    /// How many networks are counted.
    var networkCount: Int { state.withLock { $0.table.networkCount } }
    /// How many requests wait.
    var waiterCount: Int { state.withLock { $0.waiterCount } }

    /// Lets a request with credentials in, to be judged; waits while as many others of its network are as may fail.
    ///
    /// - Parameter request: the request.
    /// - Returns: what gets the result.
    /// - Throws: ``Problem`` with 429 if there were too many failures before, or the others take too long; `CancellationError`.
    func enter(_ request: Request) async throws -> FailureAttempt {
        let network = request.remoteAddress?.network ?? []
        let client = request.client
        let end = client.now.advanced(by: Self.patience)
        while true {
            switch step(network, at: client.now, until: end) {
            case .judge:
                return FailureAttempt { [self] hasFailed in leave(network, hasFailed: hasFailed, at: client.now) }
            case .refuse(let wait):
                let sentence = "There were too many attempts with wrong credentials."
                throw Problem(.tooManyRequests, sentence, fields: [.retryAfter: RetryAfter.value(wait)])
            case .wait(let number, let turn):
                defer { forget(number, network) }
                try await turn.ends(within: client.now.duration(to: end)) { try await client.sleep(for: $0) }
                try Task.checkCancellation()
            }
        }
    }

    private func step(_ network: [UInt8], at instant: Instant, until end: Instant) -> Step {
        state.withLock { state in
            switch state.table.enter(network, at: instant) {
            case .admitted: return .judge
            case .refused(let wait): return .refuse(wait)
            case .full:
                if instant >= end || state.waiterCount >= Self.waiterBound { return .refuse(.seconds(1)) }
                let (turn, begin) = AsyncStream<Void>.makeStream()
                state.number += 1
                state.waiters[network, default: [:]][state.number] = begin
                state.waiterCount += 1
                return .wait(state.number, turn)
            }
        }
    }

    private func leave(_ network: [UInt8], hasFailed: Bool, at instant: Instant) {
        let waiters = state.withLock { state in
            state.table.leave(network, hasFailed: hasFailed, at: instant)
            let waiters = state.waiters.removeValue(forKey: network) ?? [:]
            state.waiterCount -= waiters.count
            return waiters
        }
        // All: after a failure each may have to be refused.
        for waiter in waiters.values { waiter.finish() }
    }

    private func forget(_ number: UInt64, _ network: [UInt8]) {
        state.withLock { state in
            guard state.waiters[network]?.removeValue(forKey: number) != nil else { return }
            state.waiterCount -= 1
            if state.waiters[network]?.isEmpty == true { state.waiters[network] = nil }
        }
    }
}

/// One request's credentials while they are being judged; ends once, with the last reference if not before.
final class FailureAttempt: Sendable {
    private let isOver = Atomic(false)
    private let leave: @Sendable (_ hasFailed: Bool) -> Void

    init(_ leave: @escaping @Sendable (_ hasFailed: Bool) -> Void) {
        self.leave = leave
    }

    /// Notes how it has ended, unless that is known.
    func end(hasFailed: Bool = false) {
        if !isOver.exchange(true, ordering: .relaxed) { leave(hasFailed) }
    }

    deinit {
        end()
    }
}

/// Gets the result of checking a request's credentials.
enum FailureAttempts: RequestKey {
    typealias Value = [FailureAttempt]
}
