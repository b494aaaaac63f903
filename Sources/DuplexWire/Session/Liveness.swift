// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Whether the peer is alive: when to ping it, which ping a pong answers, and when its silence has lasted too long.
///
/// A ping goes out every interval whether or not there is traffic, so that the round trip is known. Any byte that arrives
/// is a sign of life.
struct Liveness: Sendable {
    private let keepalive: Keepalive
    private var nextPing: Instant?
    /// When the peer must have been heard of, and since when.
    private var silence: (since: Instant, until: Instant)?
    private var lastID: UInt64 = 0
    /// Pings without a pong, the oldest first.
    private var outstanding: [(id: UInt64, sent: Instant)] = []

    /// The most pings that are remembered; older ones are forgotten.
    private static let maximumOutstanding = 32

    init(_ keepalive: Keepalive, now: Instant) {
        self.keepalive = keepalive
        nextPing = keepalive.interval.map { now.advanced(by: $0) }
    }

    /// When ``deadlinePassed(now:)`` has something to say.
    var deadline: Instant? {
        guard let silence else { return nextPing }
        return min(silence.until, nextPing ?? silence.until)
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
        if let silence, now >= silence.until {
            if lastHeard <= silence.since { return .silent(silence.since.duration(to: now)) }
            self.silence = nil
        }
        guard let due = nextPing, let interval = keepalive.interval, now >= due else { return .fine }
        nextPing = now.advanced(by: interval)
        // Silence counts from the first ping that nothing has followed, so a sign of life since then makes it this one.
        if silence.map({ lastHeard > $0.since }) ?? true { silence = (now, now.advanced(by: keepalive.timeout)) }
        return .ping
    }

    /// No more pings, and no more waiting for the peer.
    mutating func stop() {
        nextPing = nil
        silence = nil
    }

    // MARK: Round trips

    /// A new identity for a ping that goes out now.
    mutating func nextPing(now: Instant) -> UInt64 {
        lastID += 1
        outstanding.append((lastID, now))
        if outstanding.count > Self.maximumOutstanding { outstanding.removeFirst() }
        return lastID
    }

    /// The ping that a pong answers; earlier ones count as answered with it (RFC 6455 section 5.5.3).
    ///
    /// - Returns: `nil` for a pong that nobody asked for, which is allowed.
    mutating func pong(_ payload: [UInt8], now: Instant) -> (id: UInt64, roundTrip: Duration)? {
        guard payload.count == 8 else { return nil }
        let id = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let index = outstanding.firstIndex(where: { $0.id == id }) else { return nil }
        let sent = outstanding[index].sent
        outstanding.removeFirst(index + 1)
        return (id, sent.duration(to: now))
    }

    static func payload(_ id: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: id >> UInt64(56 - 8 * $0)) }
    }
}
