// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// When to ask an idle peer for a sign of life (RFC 6455 section 5.5.2); later versions may add ways.
///
/// Each duration is at least a millisecond; less is taken as that, and zero or less is an error when the connection is made.
@nonexhaustive
public enum PingPolicy: Sendable, Hashable {
    /// A ping at each interval; the connection is failed with 1011 when nothing at all arrives within the timeout after it.
    case every(Duration, timeout: Duration)
    /// Pings that become rarer as long as the peer answers them: each time by half, up to a longest interval, which is at least the
    /// first.
    ///
    /// A ping that isn't answered before the next is due brings the first interval back. A peer that vanishes is noticed
    /// within the longest interval and the timeout.
    case adaptive(from: Duration, to: Duration, timeout: Duration)
    /// No pings: a peer that vanishes is noticed when something is sent to it.
    case disabled

    private static let least = Duration.milliseconds(1)

    /// The time from one ping to the next, at first; `nil` when there are none.
    package var interval: Duration? {
        switch self {
        case .every(let interval, _), .adaptive(let interval, _, _): max(interval, Self.least)
        case .disabled: nil
        }
    }

    /// What the time from one ping to the next may grow to; the same where it doesn't.
    package var longestInterval: Duration? {
        guard case .adaptive(let first, let longest, _) = self else { return interval }
        return max(longest, first, Self.least)
    }

    /// How long the peer may stay silent after a ping before the connection is failed with 1011.
    package var timeout: Duration {
        switch self {
        case .every(_, let timeout), .adaptive(_, _, let timeout): max(timeout, Self.least)
        case .disabled: .zero
        }
    }

    /// The first duration that isn't longer than zero, which no connection can be made with.
    package var durations: [DurationSetting] {
        let all: [Duration] =
            switch self {
            case .every(let interval, let timeout): [interval, timeout]
            case .adaptive(let first, let longest, let timeout): [first, longest, timeout]
            case .disabled: []
            }
        return all.first { $0 <= .zero }.map { [DurationSetting("pings", $0)] } ?? []
    }
}

/// Whether the peer is alive: when to ping it, which ping a pong answers, and when its silence has lasted too long.
///
/// A ping goes out every interval whether or not there is traffic, so that the round trip is known. Any byte that arrives
/// is a sign of life.
struct Liveness: Sendable {
    // Every idle connection holds this: one word. The policy, which is the same for many connections, is handed in.
    private var ping = CompactInstant()

    init(_ times: PingTimes, now: Instant) {
        if times.shortest > 0 { nextPing = now.advanced(by: .nanoseconds(times.shortest)) }
    }

    private var nextPing: Instant? {
        get { ping.instant }
        set { ping.instant = newValue }
    }

    /// When ``deadlinePassed(_:_:now:lastHeard:)`` has something to say.
    func deadline(_ times: PingTimes, _ pings: SentPings?) -> Instant? {
        guard let silentUntil = pings?.silentUntil(times) else { return nextPing }
        return min(silentUntil, nextPing ?? silentUntil)
    }

    enum Verdict: Sendable {
        case fine
        case ping
        case silent(Duration)
    }

    /// Says what is due.
    ///
    /// - Parameters:
    ///   - times: the policy.
    ///   - pings: the pings so far.
    ///   - now: the time.
    ///   - lastHeard: when something last arrived from the peer.
    /// - Returns: what to do.
    mutating func deadlinePassed(
        _ times: PingTimes,
        _ pings: SentPings,
        now: Instant,
        lastHeard: Instant
    ) -> Verdict {
        if let silentSince = pings.silentSince, let silentUntil = pings.silentUntil(times), now >= silentUntil {
            if lastHeard <= silentSince { return .silent(silentSince.duration(to: now)) }
            pings.isHeard()
        }
        guard let due = nextPing, now >= due else { return .fine }
        nextPing = now.advanced(by: .nanoseconds(pings.nextInterval(times)))
        pings.awaitsSign(now: now, lastHeard: lastHeard)
        return .ping
    }

    /// No more pings.
    mutating func stop() { nextPing = nil }
}

/// The pings of a connection: which of them a pong answers, what the round trips have shown, and since when a sign of life is waited
/// for.
///
/// An object, because a connection that hasn't been pinged has no room for it.
final class SentPings {
    private var lastID: UInt64 = 0
    /// Pings without a pong, the oldest first.
    private var outstanding: [Ping] = []
    /// Since when the peer hasn't been heard of, while a sign of life is waited for.
    private(set) var silentSince: Instant?
    /// The time from one ping to the next, in nanoseconds; 0 before the first.
    private var interval: Int64 = 0

    /// What the round trips have shown.
    private(set) var latency = Latency()

    private struct Ping {
        var id: UInt64
        var sent: Instant
        /// Of the app's; `nil` where it is the identity.
        var payload: [UInt8]?
    }

    /// The most pings that are remembered; older ones are forgotten.
    private static let maximumOutstanding = 32

    /// Chooses the interval after a ping that is due: longer, if those before it were answered.
    func nextInterval(_ times: PingTimes) -> Int64 {
        let (present, isGood) = (max(interval, times.shortest), lastID > 0 && outstanding.isEmpty)
        interval = isGood ? min(times.longest, present + present / 2) : times.shortest
        return interval
    }

    // MARK: Silence

    /// When the peer must have been heard of.
    func silentUntil(_ times: PingTimes) -> Instant? {
        silentSince?.advanced(by: .nanoseconds(times.timeout))
    }

    /// A ping is due, and the peer owes a sign of life.
    func awaitsSign(now: Instant, lastHeard: Instant) {
        // Silence counts from the first ping that nothing has followed, so a sign of life since then makes it this one.
        if silentSince.map({ lastHeard > $0 }) ?? true { silentSince = now }
    }

    /// No sign of life is waited for any more.
    func isHeard() { silentSince = nil }

    // MARK: Round trips

    /// A new identity for a ping that goes out now.
    func next(now: Instant, payload: [UInt8]? = nil) -> UInt64 {
        lastID += 1
        outstanding.append(Ping(id: lastID, sent: now, payload: payload))
        if outstanding.count > Self.maximumOutstanding { outstanding.removeFirst() }
        return lastID
    }

    /// The ping that a pong answers; earlier ones count as answered with it (RFC 6455 section 5.5.3).
    ///
    /// - Returns: `nil` for a pong that nobody asked for, which is allowed.
    func pong(_ payload: [UInt8], now: Instant) -> (id: UInt64, roundTrip: Duration)? {
        let identity = payload.count == 8 ? payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
        let answered = outstanding.firstIndex { ping in
            if let own = ping.payload { own == payload } else { ping.id == identity }
        }
        guard let index = answered else { return nil }
        let (id, sent) = (outstanding[index].id, outstanding[index].sent)
        // Usually the only one: then nothing is kept of it, as most connections are idle from here to the next ping.
        outstanding = index + 1 == outstanding.count ? [] : Array(outstanding[(index + 1)...])
        let roundTrip = sent.duration(to: now)
        latency.record(roundTrip)
        return (id, roundTrip)
    }

    static func payload(_ id: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: id >> UInt64(56 - 8 * $0)) }
    }
}

/// An instant or none, in the room of an instant.
struct CompactInstant: Sendable {
    private var nanoseconds = Int64.max

    var instant: Instant? {
        get { nanoseconds == .max ? nil : Instant(nanoseconds: nanoseconds) }
        // The end of time is none, and nobody waits for it.
        set { nanoseconds = newValue?.nanoseconds ?? .max }
    }
}
