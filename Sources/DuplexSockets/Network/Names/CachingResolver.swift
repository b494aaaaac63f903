// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Remembers what another resolver answered, for as long as the answer may be kept.
///
/// Look-ups of one name at the same time are joined: the other resolver is asked once, and goes on for those who still wait
/// when some are cancelled. That a host is unknown is remembered, too; every other error is not, so the next look-up tries
/// again.
///
/// Where ``Options/staleTime`` allows it, an answer whose time is over is still given, at once, while one look-up
/// refreshes it. The address that a connection was last made to goes first. After a change of the network, call
/// ``removeAll()``, or use ``empty(onChangesOf:)``.
public final class CachingResolver: Resolver {
    /// How long answers are kept, and how many.
    public struct Options: Sendable, Hashable {
        /// The shortest time for which answers are kept.
        ///
        /// Default: zero.
        package var minimumTimeToLive = Duration.zero
        /// The longest time for which answers are kept.
        ///
        /// Default: 1 h. With zero no answer is kept.
        public var maximumTimeToLive = Duration.seconds(3_600)
        /// How long answers without a time to live are kept, such as those of the system.
        ///
        /// Default: 30 s. With zero they aren't kept.
        package var defaultTimeToLive = Duration.seconds(30)
        /// The longest time for which an unknown host is remembered.
        ///
        /// Default: 10 s. With zero none is remembered.
        ///
        /// Less where the answer says so.
        package var unknownTimeToLive = Duration.seconds(10)
        /// How long expired answers are still used while they are refreshed (RFC 8767).
        ///
        /// Default: zero.
        ///
        /// Connecting doesn't wait for the name then, and may get addresses that the host doesn't have any more. One
        /// look-up refreshes a name at a time. If it finds that the host is unknown, the old answer is dropped; if it
        /// fails otherwise, the old one stays, and the next look-up comes 5 s later at the earliest.
        ///
        /// After a change of the network, too (``CachingResolver/empty(onChangesOf:)``), but only as the last resort.
        public var staleTime = Duration.zero
        /// How long to wait after a failed refresh before the next one.
        ///
        /// Default: 5 s. With zero the next look-up is one.
        package var refreshPause = Duration.seconds(5)
        /// How long a refresh may take.
        ///
        /// Default: 10 s.
        package var refreshTimeout = Duration.seconds(10)
        /// How long a look-up in a changed network may take before an answer from before the change is used (RFC 8767
        /// section 5).
        ///
        /// Default: 1.8 s. With zero it is used at once.
        package var lastResortDelay = Duration.milliseconds(1_800)
        /// How many names are remembered.
        ///
        /// Default: 1,000.
        ///
        /// Beyond that, the least recently used one is dropped.
        public var capacity = 1_000

        /// The defaults.
        public init() {}
    }

    struct Entry {
        var outcome: Result<Resolution, SocketError>
        var expiry: Instant
        /// Until when it may be given while it is refreshed.
        var end: Instant
        var lastUse: UInt64
        /// When it may be refreshed, after a refresh has failed.
        var nextRefresh: Instant?
    }

    /// A look-up that is under way, and those who wait for it.
    private struct Flight {
        var waiters: [UInt64: PendingResult<Resolution>] = [:]
        var task: Task<Void, Never>?
        /// Fires when it has taken so long that they get the last resort.
        var timer: LookupTimer?
        var isOverdue = false
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// What was remembered when the network changed, for when nothing else can be had.
        var former = FormerAnswers()
        var flights: [UInt64: Flight] = [:]
        /// The look-ups that newcomers join, and whose answers are kept, by name.
        var current: [String: UInt64] = [:]
        var lastNumber: UInt64 = 0
        /// Where connections were last made to.
        var proven: ProvenAddresses
        /// Those who see to it that all is forgotten when the network changes.
        var emptiers: [CacheEmptier] = []

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private enum Entrance {
        case known(Result<Resolution, SocketError>)
        /// Given at once, and a look-up has to be begun.
        case stale(Result<Resolution, SocketError>, flight: UInt64)
        case joined(flight: UInt64, waiter: UInt64)
        case first(flight: UInt64, waiter: UInt64)
    }

    private let resolver: any Resolver
    private let options: Options
    private let now: @Sendable () -> Instant
    private let state: Mutex<State>

    /// Puts a cache before a resolver.
    ///
    /// - Parameters:
    ///   - resolver: what is asked for names that aren't remembered.
    ///   - options: how long answers are kept, and how many.
    public convenience init(_ resolver: any Resolver, options: Options = Options()) {
        self.init(resolver, options: options) { Instant.now() }
    }

    package init(_ resolver: any Resolver, options: Options, now: @escaping @Sendable () -> Instant) {
        self.resolver = resolver
        self.options = options
        self.now = now
        state = Mutex(State(proven: ProvenAddresses(capacity: options.capacity)))
    }

    /// Forgets everything, for example because the machine is in another network now.
    ///
    /// Look-ups that are under way go on for those who wait for them, and are not remembered.
    public func removeAll() {
        state.withLock { state in
            state.entries = [:]
            state.former = FormerAnswers()
            state.current = [:]
            state.proven.removeAll()
        }
    }

    /// Forgets everything, but for what may be the last resort.
    func networkChanged() {
        let now = now()
        state.withLock { state in
            if options.staleTime > .zero { state.former.take(state.entries, capacity: options.capacity, now) }
            state.entries = [:]
            state.current = [:]
            state.proven.removeAll()
        }
    }

    /// Forgets one name, for example because none of its addresses answers.
    package func remove(_ host: String) {
        let name = host.lowercased()
        state.withLock { state in
            state.entries[name] = nil
            state.former[name] = nil
            state.current[name] = nil
            state.proven[name] = nil
        }
    }

    /// Remembers where a connection was made to: that address is the first of the next answer that has it.
    public func connected(_ host: String, to address: SocketAddress) {
        var address = address
        address.port = 0
        let name = host.lowercased()
        state.withLock { $0.proven[name] = address }
        resolver.connected(host, to: address)
    }

    /// Keeps somebody who empties this.
    func keep(_ emptier: CacheEmptier) {
        state.withLock { $0.emptiers.append(emptier) }
    }

    /// How many names are remembered.
    package var count: Int {
        state.withLock { $0.entries.count }
    }

    /// How many look-ups are under way.
    var flightCount: Int {
        state.withLock { $0.flights.count }
    }

    /// How many callers wait for a look-up that is under way.
    var waitingCount: Int {
        state.withLock { state in state.flights.values.reduce(0) { $0 + $1.waiters.count } }
    }

    /// Looks a host name up, or remembers it.
    ///
    /// - Parameter host: a name. Upper and lower case are the same; with a dot at its end it is another name, as it isn't
    ///   tried in search domains.
    /// - Returns: the addresses, with the time for which they are still remembered; none where that is over already.
    /// - Throws: what the other resolver threw; `CancellationError`.
    public func resolve(_ host: String) async throws -> Resolution {
        try Task.checkCancellation()
        try SocketError.check(options.durations)
        let name = host.lowercased()
        let pending = PendingResult<Resolution>()
        let (flight, waiter): (UInt64, UInt64)
        switch enter(name, pending) {
        case .known(let outcome): return try outcome.get()
        case .stale(let outcome, let refresh):
            begin(refresh, host, name, isRefresh: true)
            return try outcome.get()
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

    private func enter(_ name: String, _ pending: PendingResult<Resolution>) -> Entrance {
        let now = now()
        return state.withLock { state in
            if let (outcome, mayRefresh) = Self.remembered(name, now, &state) {
                guard mayRefresh && state.current[name] == nil else { return .known(outcome) }
                let flight = state.nextNumber()
                state.current[name] = flight
                state.flights[flight] = Flight()
                return .stale(outcome, flight: flight)
            }
            let waiter = state.nextNumber()
            if let flight = state.current[name] {
                if state.flights[flight]?.isOverdue == true, let last = state.former.answer(to: name, now) {
                    return .known(.success(state.proven.marked(last, of: name)))
                }
                state.flights[flight]?.waiters[waiter] = pending
                return .joined(flight: flight, waiter: waiter)
            }
            let flight = state.nextNumber()
            state.current[name] = flight
            state.flights[flight] = Flight(waiters: [waiter: pending])
            return .first(flight: flight, waiter: waiter)
        }
    }

    private func begin(_ flight: UInt64, _ host: String, _ name: String, isRefresh: Bool = false) {
        let now = now()
        let hasLastResort = state.withLock { $0.former.answer(to: name, now) != nil }
        // Those who get the last resort don't wait any more.
        let isBounded = isRefresh || hasLastResort
        let task = Task.immediate { [self] in
            do {
                land(flight, name, .success(try await isBounded ? refreshed(host) : resolver.resolve(host)))
            } catch {
                land(flight, name, .failure(error))
            }
        }
        let isAbandoned = state.withLock { state in
            state.flights[flight]?.task = task
            if hasLastResort && state.flights[flight] != nil {
                state.flights[flight]?.timer = LookupTimer(
                    loop: EventLoopGroup.shared.next(),
                    timeout: options.lastResortDelay
                ) { [weak self] in self?.overdue(flight, name) }
            }
            return state.flights[flight] == nil
        }
        // Or it has landed already, and cancelling does nothing.
        if isAbandoned { task.cancel() }
    }

    /// Nobody may be waiting who would give up, so it has a deadline.
    private func refreshed(_ host: String) async throws -> Resolution {
        let loop = EventLoopGroup.shared.next()
        return try await LookupDeadline.resolve(resolver, host, within: options.refreshTimeout, on: loop)
    }

    /// Those who wait get the last resort, and the look-up goes on without them.
    private func overdue(_ flight: UInt64, _ name: String) {
        let now = now()
        let waiters = state.withLock { state -> (pending: [PendingResult<Resolution>], last: Resolution)? in
            guard let late = state.flights[flight], let last = state.former.answer(to: name, now) else { return nil }
            state.flights[flight]?.isOverdue = true
            state.flights[flight]?.waiters = [:]
            return (Array(late.waiters.values), state.proven.marked(last, of: name))
        }
        guard let waiters else { return }
        for waiter in waiters.pending { waiter.finish(Result<Resolution, SocketError>.success(waiters.last)) }
    }

    private func land(_ flight: UInt64, _ name: String, _ result: Result<Resolution, any Error>) {
        let now = now()
        let (waiters, told) = state.withLock { state -> ([PendingResult<Resolution>], Result<Resolution, any Error>) in
            guard let landed = state.flights.removeValue(forKey: flight) else { return ([], result) }
            if state.current[name] == flight {
                state.current[name] = nil
                keep(result, name, now, &state)
            }
            landed.timer?.stop()
            let told = state.former.mended(result, of: name, now)
            return (Array(landed.waiters.values), told.map { state.proven.marked($0, of: name) })
        }
        for waiter in waiters { waiter.finish(told) }
    }

    /// Takes one out of those who wait; with the last one the look-up is given up.
    private func leave(_ flight: UInt64, _ waiter: UInt64, _ name: String) {
        let task = state.withLock { state -> Task<Void, Never>? in
            // One that has its answer already leaves nobody waiting who would have been the last.
            guard state.flights[flight]?.waiters.removeValue(forKey: waiter) != nil else { return nil }
            guard let left = state.flights[flight], left.waiters.isEmpty else { return nil }
            state.flights[flight] = nil
            left.timer?.stop()
            if state.current[name] == flight { state.current[name] = nil }
            return left.task
        }
        task?.cancel()
    }

    // MARK: Remembering

    private static func remembered(
        _ name: String,
        _ now: Instant,
        _ state: inout State
    ) -> (outcome: Result<Resolution, SocketError>, mayRefresh: Bool)? {
        guard var entry = state.entries[name] else { return nil }
        guard now < entry.end else {
            state.entries[name] = nil
            return nil
        }
        entry.lastUse = state.nextNumber()
        state.entries[name] = entry
        let remaining = max(.zero, now.duration(to: entry.expiry))
        let outcome = entry.outcome
            .map { state.proven.marked(Resolution($0.addresses, timeToLive: remaining), of: name) }
            .mapError { error in
                var error = error
                error.timeToLive = remaining
                return error
            }
        return (outcome, now >= entry.expiry && entry.nextRefresh.map { now >= $0 } ?? true)
    }

    private func keep(
        _ result: Result<Resolution, any Error>,
        _ name: String,
        _ now: Instant,
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
            state.entries[name]?.nextRefresh = now.advanced(by: options.refreshPause)
            return
        }
        // Of an answer that may not be kept the one before isn't either.
        state.entries[name] = nil
        state.former[name] = nil
        guard time > .zero, options.capacity > 0 else { return }
        if state.entries.count >= options.capacity { makeRoom(now, &state) }
        let expiry = now.advanced(by: time)
        // That a host is unknown isn't said any longer than it may be.
        let isKnown = (try? outcome.get()) != nil
        let end = isKnown ? expiry.advanced(by: options.staleTime) : expiry
        state.entries[name] = Entry(outcome: outcome, expiry: expiry, end: end, lastUse: state.nextNumber())
    }

    /// Drops what has expired, or else the one that was wanted least recently.
    private func makeRoom(_ now: Instant, _ state: inout State) {
        state.entries = state.entries.filter { now < $0.value.end }
        guard state.entries.count >= options.capacity else { return }
        if let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            state.entries[oldest.key] = nil
        }
    }

    // MARK: Before anybody asks

    /// How many names are looked up side by side.
    private static let prefetchWidth = 8

    /// Looks names up before they are needed, up to eight at a time.
    ///
    /// What is remembered isn't asked for again. Cancelling gives up what is under way.
    ///
    /// - Parameter hosts: the names.
    /// - Returns: the error of each name that could not be looked up; empty when all of them could.
    /// - Throws: `CancellationError`.
    @discardableResult
    public func prefetch(_ hosts: [String]) async throws -> [String: SocketError] {
        var failures: [String: SocketError] = [:]
        try await withThrowingTaskGroup(of: (String, SocketError?).self) { group in
            for (index, host) in hosts.enumerated() {
                if index >= Self.prefetchWidth, let (host, error) = try await group.next() { failures[host] = error }
                group.addTask { (host, try await self.failure(of: host)) }
            }
            while let (host, error) = try await group.next() { failures[host] = error }
        }
        return failures
    }

    private func failure(of host: String) async throws -> SocketError? {
        do {
            _ = try await resolve(host)
            return nil
        } catch let error as SocketError {
            return error
        } catch {
            try Task.checkCancellation()
            return SocketError(.nameServiceFailed, message: "“\(host)” could not be looked up: \(error).")
        }
    }

    /// Forgets everything whenever the network changes, from now on: other name servers may give other answers there.
    ///
    /// With ``Options/staleTime``, what was remembered is the last resort for that long: where the look-up fails, other than that
    /// the host is unknown, or takes longer than 1.8 s, the answer of before is given.
    ///
    /// The monitor is kept for as long as this resolver. Look-ups that are under way go on for those who wait for them, and
    /// are not remembered.
    ///
    /// - Parameter monitor: reports changes, such as ``NetworkMonitor/shared()``.
    public func empty(onChangesOf monitor: NetworkMonitor) {
        let emptier = CacheEmptier(self, monitor)
        keep(emptier)
        monitor.tell(emptier)
    }
}

extension CachingResolver.Options {
    /// The durations that are set here.
    var durations: [DurationSetting] {
        [
            DurationSetting("minimumTimeToLive", minimumTimeToLive, allowsZero: true),
            DurationSetting("maximumTimeToLive", maximumTimeToLive, allowsZero: true),
            DurationSetting("defaultTimeToLive", defaultTimeToLive, allowsZero: true),
            DurationSetting("unknownTimeToLive", unknownTimeToLive, allowsZero: true),
            DurationSetting("staleTime", staleTime, allowsZero: true),
            DurationSetting("refreshPause", refreshPause, allowsZero: true),
            DurationSetting("refreshTimeout", refreshTimeout),
            DurationSetting("lastResortDelay", lastResortDelay, allowsZero: true),
        ]
    }
}

/// Empties a cache when the network changes, for as long as there is the cache.
final class CacheEmptier: NetworkListener {
    private let cache: Weak
    /// Kept, so that it goes on.
    private let monitor: NetworkMonitor?

    private struct Weak: Sendable {
        weak let cache: CachingResolver?
    }

    init(_ cache: CachingResolver, _ monitor: NetworkMonitor?) {
        self.cache = Weak(cache: cache)
        self.monitor = monitor
    }

    /// Whoever connects because of the change looks the name up in the emptied cache.
    var isFirst: Bool { true }

    func changed(_ changes: [NetworkChange]) {
        cache.cache?.networkChanged()
    }

    func ended(_ error: SocketError?) {}
}

/// What was remembered of names before the network changed; of a bounded number of names.
///
/// The last resort: given where the name servers of the new network, if it is another one at all, give no answer.
struct FormerAnswers {
    private var entries: [String: CachingResolver.Entry] = [:]

    /// How many names there are.
    var count: Int { entries.count }

    /// Takes the answers with addresses that may still be given, in place of older ones.
    ///
    /// - Parameters:
    ///   - current: what is remembered.
    ///   - capacity: how many names are kept; beyond that, those go that were wanted least recently.
    ///   - now: the time.
    mutating func take(_ current: [String: CachingResolver.Entry], capacity: Int, _ now: Instant) {
        let known = current.filter { (try? $0.value.outcome.get()) != nil }
        entries = entries.merging(known) { $1 }.filter { now < $0.value.end }
        guard entries.count > max(0, capacity) else { return }
        let kept = entries.sorted { $0.value.lastUse > $1.value.lastUse }.prefix(max(0, capacity))
        entries = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }

    /// The answer of then, with no time left, while it may be given.
    func answer(to name: String, _ now: Instant) -> Resolution? {
        guard let entry = entries[name], now < entry.end, let resolution = try? entry.outcome.get() else { return nil }
        return Resolution(resolution.addresses, timeToLive: .zero)
    }

    /// What a look-up gave; the answer of then where it failed, but not where it says that the host is unknown.
    func mended(
        _ result: Result<Resolution, any Error>,
        of name: String,
        _ now: Instant
    ) -> Result<Resolution, any Error> {
        guard case .failure(let error) = result, (error as? SocketError)?.code != .unknownHost,
            !(error is CancellationError), let answer = answer(to: name, now)
        else { return result }
        return .success(answer)
    }

    subscript(name: String) -> CachingResolver.Entry? {
        get { entries[name] }
        set { entries[name] = newValue }
    }
}

/// The address of each name that a connection was last made to; of a bounded number of names.
struct ProvenAddresses {
    private var addresses: [String: (address: SocketAddress, use: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let capacity: Int

    /// One that knows nothing.
    ///
    /// - Parameter capacity: how many names it remembers; beyond that, the one goes that was set least recently.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    var count: Int { addresses.count }

    subscript(name: String) -> SocketAddress? {
        get { addresses[name]?.address }
        set {
            uses += 1
            addresses[name] = newValue.map { ($0, uses) }
            guard addresses.count > capacity else { return }
            if let oldest = addresses.min(by: { $0.value.use < $1.value.use }) { addresses[oldest.key] = nil }
        }
    }

    mutating func removeAll() {
        addresses = [:]
    }

    /// The answer with the address marked, if it has it.
    func marked(_ resolution: Resolution, of name: String) -> Resolution {
        guard let address = self[name], resolution.addresses.contains(address) else { return resolution }
        var marked = resolution
        marked.proven = address
        return marked
    }
}
