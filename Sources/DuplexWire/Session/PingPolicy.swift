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
    // Every idle connection holds these: nanoseconds rather than durations, one instant rather than two, and what is the
    // same for many connections in a place that they share.
    private let times: PingTimes
    private var interval: Int64
    private var ping = CompactInstant()
    private var silence = CompactInstant()
    private var lastID: UInt64 = 0
    /// Pings without a pong, the oldest first.
    private var outstanding: [Ping] = []

    private struct Ping: Sendable {
        var id: UInt64
        var sent: Instant
        /// Of the app's; `nil` where it is the identity.
        var payload: [UInt8]?
    }

    /// The most pings that are remembered; older ones are forgotten.
    private static let maximumOutstanding = 32

    init(_ pings: PingPolicy, now: Instant) {
        self.init(PingTimes(pings), now: now)
    }

    init(_ times: PingTimes, now: Instant) {
        self.times = times
        interval = times.shortest
        if interval > 0 { nextPing = now.advanced(by: .nanoseconds(interval)) }
    }

    private var nextPing: Instant? {
        get { ping.instant }
        set { ping.instant = newValue }
    }

    /// Since when the peer hasn't been heard of, while a sign of life is waited for.
    private var silentSince: Instant? {
        get { silence.instant }
        set { silence.instant = newValue }
    }

    /// When ``deadlinePassed(now:)`` has something to say.
    var deadline: Instant? {
        guard let silentUntil else { return nextPing }
        return min(silentUntil, nextPing ?? silentUntil)
    }

    /// When the peer must have been heard of.
    private var silentUntil: Instant? {
        silentSince?.advanced(by: .nanoseconds(times.timeout))
    }

    enum Verdict: Sendable {
        case fine
        case ping
        case silent(Duration)
    }

    /// Says what is due.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - lastHeard: when something last arrived from the peer.
    /// - Returns: what to do.
    mutating func deadlinePassed(now: Instant, lastHeard: Instant) -> Verdict {
        if let silentSince, let silentUntil, now >= silentUntil {
            if lastHeard <= silentSince { return .silent(silentSince.duration(to: now)) }
            self.silentSince = nil
        }
        guard let due = nextPing, now >= due else { return .fine }
        adapt()
        nextPing = now.advanced(by: .nanoseconds(interval))
        // Silence counts from the first ping that nothing has followed, so a sign of life since then makes it this one.
        if silentSince.map({ lastHeard > $0 }) ?? true { silentSince = now }
        return .ping
    }

    /// Chooses the interval behind a ping that is due: longer, if those before it were answered.
    private mutating func adapt() {
        guard times.longest > times.shortest, lastID > 0 else { return }
        interval = outstanding.isEmpty ? min(times.longest, interval + interval / 2) : times.shortest
    }

    /// No more pings, and no more waiting for the peer.
    mutating func stop() {
        nextPing = nil
        silentSince = nil
    }

    // MARK: Round trips

    /// A new identity for a ping that goes out now.
    mutating func nextPing(now: Instant, payload: [UInt8]? = nil) -> UInt64 {
        lastID += 1
        outstanding.append(Ping(id: lastID, sent: now, payload: payload))
        if outstanding.count > Self.maximumOutstanding { outstanding.removeFirst() }
        return lastID
    }

    /// The ping that a pong answers; earlier ones count as answered with it (RFC 6455 section 5.5.3).
    ///
    /// - Returns: `nil` for a pong that nobody asked for, which is allowed.
    mutating func pong(_ payload: [UInt8], now: Instant) -> (id: UInt64, roundTrip: Duration)? {
        let identity = payload.count == 8 ? payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
        let answered = outstanding.firstIndex { ping in
            if let own = ping.payload { own == payload } else { ping.id == identity }
        }
        guard let index = answered else { return nil }
        let (id, sent) = (outstanding[index].id, outstanding[index].sent)
        // Usually the only one: then nothing is kept of it, as most connections are idle from here to the next ping.
        outstanding = index + 1 == outstanding.count ? [] : Array(outstanding[(index + 1)...])
        return (id, sent.duration(to: now))
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
