// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Remembers what another resolver answered, for as long as the answer may be kept.
///
/// Look-ups of one name at the same time are joined: the other resolver is asked once, and goes on for those who still wait
/// when some are cancelled. That a host is unknown is remembered, too; every other error is not, so the next look-up tries
/// again.
public final class CachingResolver: Resolver {
    /// How long answers are kept, and how many.
    public struct Options: Sendable, Hashable {
        /// Answers are kept at least so long, whatever they say; not at all by default.
        public var minimumTimeToLive = Duration.zero
        /// Answers are kept no longer, whatever they say; 1 hour by default.
        public var maximumTimeToLive = Duration.seconds(3_600)
        /// How long answers are kept that don't say, such as those of the system; 30 seconds by default.
        public var defaultTimeToLive = Duration.seconds(30)
        /// How long at most that a host is unknown is remembered; 10 seconds by default.
        ///
        /// Less where the answer says so.
        public var unknownTimeToLive = Duration.seconds(10)
        /// How many names are remembered; 1,000 by default.
        ///
        /// Beyond that, the one goes that was wanted least recently.
        public var capacity = 1_000

        /// The defaults.
        public init() {}
    }

    private struct Entry {
        var outcome: Result<Resolution, SocketError>
        var expiry: MonotonicInstant
        var lastUse: UInt64
    }

    /// A look-up that is under way, and those who wait for it.
    private struct Flight {
        var waiters: [UInt64: PendingLookup] = [:]
        var task: Task<Void, Never>?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var flights: [UInt64: Flight] = [:]
        /// The look-ups that newcomers join, and whose answers are kept, by name.
        var current: [String: UInt64] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private enum Entrance {
        case known(Result<Resolution, SocketError>)
        case joined(flight: UInt64, waiter: UInt64)
        case first(flight: UInt64, waiter: UInt64)
    }

    private let resolver: any Resolver
    private let options: Options
    private let now: @Sendable () -> MonotonicInstant
    private let state = Mutex(State())

    /// Puts a cache before a resolver.
    ///
    /// - Parameters:
    ///   - resolver: what is asked for names that aren't remembered.
    ///   - options: how long answers are kept, and how many.
    public convenience init(_ resolver: any Resolver, options: Options = Options()) {
        self.init(resolver, options: options) { MonotonicInstant.now() }
    }

    package init(_ resolver: any Resolver, options: Options, now: @escaping @Sendable () -> MonotonicInstant) {
        self.resolver = resolver
        self.options = options
        self.now = now
    }

    /// Forgets everything, for example because the machine is in another network now.
    ///
    /// Look-ups that are under way go on for those who wait for them, and are not remembered.
    public func removeAll() {
        state.withLock { state in
            state.entries = [:]
            state.current = [:]
        }
    }

    /// Forgets one name, for example because none of its addresses answers.
    public func remove(_ host: String) {
        let name = host.lowercased()
        state.withLock { state in
            state.entries[name] = nil
            state.current[name] = nil
        }
    }

    /// How many names are remembered.
    public var count: Int {
        state.withLock { $0.entries.count }
    }

    /// How many callers wait for a look-up that is under way.
    var waitingCount: Int {
        state.withLock { state in state.flights.values.reduce(0) { $0 + $1.waiters.count } }
    }

    /// Looks a host name up, or remembers it.
    ///
    /// - Parameter host: a name. Upper and lower case are the same; with a dot at its end it is another name, as it isn't
    ///   tried in search domains.
    /// - Returns: the addresses, with the time for which they are still remembered.
    /// - Throws: what the other resolver threw; `CancellationError`.
    public func resolve(_ host: String) async throws -> Resolution {
        try Task.checkCancellation()
        let name = host.lowercased()
        let pending = PendingLookup()
        let (flight, waiter): (UInt64, UInt64)
        switch enter(name, pending) {
        case .known(let outcome): return try outcome.get()
        case .joined(let joined, let number): (flight, waiter) = (joined, number)
        case .first(let first, let number):
            (flight, waiter) = (first, number)
            begin(flight, host, name)
        }
        return try await pending.value {
            leave(flight, waiter, name)
            pending.finish(Result<Resolution, any Error>.failure(CancellationError()))
        }
    }

    // MARK: Look-ups under way

    private func enter(_ name: String, _ pending: PendingLookup) -> Entrance {
        let now = now()
        return state.withLock { state in
            if let outcome = Self.remembered(name, now, &state) { return .known(outcome) }
            let waiter = state.nextNumber()
            if let flight = state.current[name] {
                state.flights[flight]?.waiters[waiter] = pending
                return .joined(flight: flight, waiter: waiter)
            }
            let flight = state.nextNumber()
            state.current[name] = flight
            state.flights[flight] = Flight(waiters: [waiter: pending])
            return .first(flight: flight, waiter: waiter)
        }
    }

    private func begin(_ flight: UInt64, _ host: String, _ name: String) {
        let task = Task.immediate { [self] in
            do {
                land(flight, name, .success(try await resolver.resolve(host)))
            } catch {
                land(flight, name, .failure(error))
            }
        }
        let isAbandoned = state.withLock { state in
            state.flights[flight]?.task = task
            return state.flights[flight] == nil
        }
        // Or it has landed already, and cancelling does nothing.
        if isAbandoned { task.cancel() }
    }

    private func land(_ flight: UInt64, _ name: String, _ result: Result<Resolution, any Error>) {
        let now = now()
        let waiters = state.withLock { state -> [PendingLookup] in
            guard let landed = state.flights.removeValue(forKey: flight) else { return [] }
            if state.current[name] == flight {
                state.current[name] = nil
                keep(result, name, now, &state)
            }
            return Array(landed.waiters.values)
        }
        for waiter in waiters { waiter.finish(result) }
    }

    /// Takes one out of those who wait; with the last one the look-up is given up.
    private func leave(_ flight: UInt64, _ waiter: UInt64, _ name: String) {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.flights[flight]?.waiters[waiter] = nil
            guard let left = state.flights[flight], left.waiters.isEmpty else { return nil }
            state.flights[flight] = nil
            if state.current[name] == flight { state.current[name] = nil }
            return left.task
        }
        task?.cancel()
    }

    // MARK: Remembering

    private static func remembered(
        _ name: String,
        _ now: MonotonicInstant,
        _ state: inout State
    ) -> Result<Resolution, SocketError>? {
        guard var entry = state.entries[name] else { return nil }
        guard now < entry.expiry else {
            state.entries[name] = nil
            return nil
        }
        entry.lastUse = state.nextNumber()
        state.entries[name] = entry
        let remaining = now.duration(to: entry.expiry)
        return entry.outcome
            .map { Resolution($0.addresses, timeToLive: remaining) }
            .mapError { error in
                var error = error
                error.timeToLive = remaining
                return error
            }
    }

    private func keep(
        _ result: Result<Resolution, any Error>,
        _ name: String,
        _ now: MonotonicInstant,
        _ state: inout State
    ) {
        let outcome: Result<Resolution, SocketError>
        let time: Duration
        switch result {
        case .success(let resolution):
            outcome = .success(resolution)
            time =
                resolution.timeToLive.map { max(options.minimumTimeToLive, min($0, options.maximumTimeToLive)) }
                ?? options.defaultTimeToLive
        case .failure(let error as SocketError) where error.code == .unknownHost:
            outcome = .failure(error)
            time = min(error.timeToLive ?? options.unknownTimeToLive, options.unknownTimeToLive)
        case .failure:
            return
        }
        guard time > .zero, options.capacity > 0 else { return }
        if state.entries.count >= options.capacity { makeRoom(now, &state) }
        state.entries[name] = Entry(outcome: outcome, expiry: now.advanced(by: time), lastUse: state.nextNumber())
    }

    /// Drops what has expired, or else the one that was wanted least recently.
    private func makeRoom(_ now: MonotonicInstant, _ state: inout State) {
        state.entries = state.entries.filter { now < $0.value.expiry }
        guard state.entries.count >= options.capacity else { return }
        if let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            state.entries[oldest.key] = nil
        }
    }
}
