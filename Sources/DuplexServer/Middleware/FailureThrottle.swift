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
        let client = request.connection
        let end = client.now.advanced(by: Self.patience)
        while true {
            switch step(network, at: client.now, until: end) {
            case .judge:
                return FailureAttempt { [self] hasFailed in leave(network, hasFailed: hasFailed, at: client.now) }
            case .refuse(let wait):
                let sentence = "There were too many attempts with wrong credentials."
                throw Problem(.tooManyRequests, sentence, headers: [.retryAfter: RetryAfter.value(wait)])
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

/// How often each network has failed of late, in bounded memory.
///
/// A window of time begins with a failure; when it has as many as are allowed, the network waits for its end. Attempts that
/// are being judged count as failures until they have proven right: else a slow check would let many in at once.
struct FailureTable: Sendable {
    /// Whether an attempt may be judged.
    enum Entry: Equatable, Sendable {
        /// It may, and then ``leave(_:hasFailed:at:)`` must follow.
        case admitted
        /// There were too many failures: for how long nothing is judged.
        case refused(Duration)
        /// Others are being judged, and all of them may fail.
        case full
    }

    private struct Count {
        var began: Instant
        var failures = 0
        var open = 0
    }

    private let limit: Int
    private let window: Duration
    private var counts: [[UInt8]: Count] = [:]

    /// The most networks that are counted; of more, those that failed longest ago are forgotten.
    static let bound = 10_000

    init(limit: Int, window: Duration) {
        self.limit = max(1, limit)
        self.window = window
    }

    var networkCount: Int { counts.count }

    /// Begins an attempt.
    mutating func enter(_ network: [UInt8], at instant: Instant) -> Entry {
        var count = counts[network] ?? Count(began: instant)
        if hasEnded(count, at: instant) { count.failures = 0 }
        if count.failures >= limit { return .refused(instant.duration(to: count.began.advanced(by: window))) }
        if count.failures + count.open >= limit { return .full }
        if counts[network] == nil, counts.count >= Self.bound { makeRoom(at: instant) }
        count.open += 1
        counts[network] = count
        return .admitted
    }

    /// Ends an attempt.
    mutating func leave(_ network: [UInt8], hasFailed: Bool, at instant: Instant) {
        // It may have been forgotten.
        var count = counts[network] ?? Count(began: instant, open: 1)
        count.open = max(0, count.open - 1)
        if hasEnded(count, at: instant) { count.failures = 0 }
        if hasFailed {
            if count.failures == 0 { count.began = instant }
            count.failures += 1
        }
        counts[network] = count.failures == 0 && count.open == 0 ? nil : count
    }

    private func hasEnded(_ count: Count, at instant: Instant) -> Bool {
        count.began.duration(to: instant) >= window
    }

    /// Forgets those whose window has ended, and more where that makes little room.
    private mutating func makeRoom(at instant: Instant) {
        let window = window
        _ = counts.makeRoom(within: Self.bound) {
            $0.value.open > 0 || $0.value.began.duration(to: instant) < window
        } since: {
            $0.value.began
        }
    }
}

// MARK: The option

extension RouteOption {
    /// Refuses clients that have sent wrong credentials too often, with 429 and `Retry-After`, before any are checked.
    ///
    /// ```swift
    /// server.group("/admin", .basicAuth(realm: "admin", file: passwords), .throttleFailures()) { admin in … }
    /// ```
    ///
    /// Counted are requests with a field `Authorization` that are answered with 401, of each IPv4 address, and of each
    /// network of 64 bits in IPv6: whoever has one IPv6 address has all of these. Also of this machine, and of all clients
    /// of a Unix socket together. Right credentials clear nothing, as whoever guesses may have an account; requests without
    /// credentials are let through. At most 10,000 addresses are remembered.
    ///
    /// It stands before ``basicAuth(realm:accounts:)``, ``digestAuth(realm:accounts:options:)``, ``bearerAuth(realm:_:)``
    /// and the like, wherever it is written; before middleware of the app's own, write it before that, and have that set
    /// ``Request/user``.
    ///
    /// Hazard: behind a proxy all requests come from one address, unless the proxy sends the clients' addresses.
    ///
    /// - Parameters:
    ///   - limit: how many failures are answered as such. While as many requests of an address are being checked, others wait for them, up
    ///     to 10 s, and 1,000 requests at most; beyond that 429 says to come again after a second. Default: 10.
    ///   - window: in which time, from the first of them on. Default: 60 s.
    /// - Returns: the option; where several groups have the same one, their failures are counted together.
    public static func throttleFailures(_ limit: Int = 10, within window: Duration = .seconds(60)) -> RouteOption {
        let throttle = FailureThrottle(limit: limit, window: window)
        return RouteOption { settings in
            settings.durations.append(DurationSetting("window", window))
            settings.addBeforeAuthentication(
                .beforeWaiting { request in
                    guard request.headers[.authorization] != nil else { return nil }
                    let attempt = try await throttle.enter(request)
                    request[FailureAttempts.self] = (request[FailureAttempts.self] ?? []) + [attempt]
                    return nil
                }
            )
            settings.addFinishing { request, response in
                for attempt in request[FailureAttempts.self] ?? [] {
                    attempt.end(hasFailed: response.status == .unauthorized)
                }
            }
        }
    }
}
