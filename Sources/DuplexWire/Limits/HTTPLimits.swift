// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Bounds on what the heads and bodies of HTTP may make this side hold or wait for.
///
/// Start from a preset and change what differs: `.internet.with(bodySize: .mebibytes(8))`.
public struct HTTPLimits: Sendable, Hashable {
    /// The longest head (start line and fields with their line ends); a longer one is answered with 431 or 414.
    public var headSize: ByteCount
    /// The most fields in a head; one more is answered with 431.
    public var headFields: Int
    /// How long a peer may take to send a whole head; a slower one is answered with 408.
    public var headTime: Duration
    /// The longest request body that is taken; a longer one is answered with 413.
    public var bodySize: ByteCount
    /// The least bytes of a request body in a second, once ``headTime`` has passed; a slower one is answered with 408, as is
    /// one of which nothing comes for ``headTime``.
    ///
    /// 0 allows a client to hold a connection for ever by sending a byte now and then.
    public var bodyRate: ByteCount

    /// For untrusted peers; the default everywhere.
    ///
    /// Heads of 16 KiB with 100 fields in 10 seconds, bodies of 1 MiB, at 512 bytes a second at least.
    public static let internet = HTTPLimits(
        headSize: .kibibytes(16),
        headFields: 100,
        headTime: .seconds(10),
        bodySize: .mebibytes(1),
        bodyRate: 512
    )

    /// For peers on one's own network: heads of 64 KiB with 200 fields in 30 seconds, bodies of 64 MiB, at 512 bytes a
    /// second at least.
    public static let local = HTTPLimits(
        headSize: .kibibytes(64),
        headFields: 200,
        headTime: .seconds(30),
        bodySize: .mebibytes(64),
        bodyRate: 512
    )

    /// For peers that are trusted with this process's memory: bodies have no bound.
    ///
    /// Heads are bounded as in ``local``, and so is the time of bodies.
    public static let unlimited = HTTPLimits.local.with(bodySize: .unlimited)

    /// The same limits with another size of request bodies.
    public func with(bodySize: ByteCount) -> HTTPLimits {
        var copy = self
        copy.bodySize = bodySize
        return copy
    }

    /// The same limits with another time to read a head.
    package func with(headTime: Duration) -> HTTPLimits {
        var copy = self
        copy.headTime = headTime
        return copy
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("headTime", headTime)] }
}

/// How slowly a request's body may come before it is answered with 408 (RFC 9110 section 15.5.9).
///
/// A timeout that each byte restarts is none: a client that drips a body could hold a connection, and the memory of the
/// bytes so far, for ever. So the body as a whole has `HTTPLimits.headTime`, and one second more for each
/// `HTTPLimits.bodyRate` of bytes that have come. What came fast at first doesn't make up for silence: each piece has
/// to follow the one before within `HTTPLimits.headTime`, too.
package struct BodyPace: Sendable, Hashable {
    private var began: Instant
    private let patience: Duration
    private let rate: Int
    private var lastReceived: Instant
    private var received = 0

    /// A body whose head has just come.
    ///
    /// - Parameters:
    ///   - limits: Of these, `headTime` and `bodyRate`.
    ///   - now: The time.
    package init(limits: HTTPLimits, now: Instant) {
        self.init(patience: limits.headTime, rate: limits.bodyRate.bytes, now: now)
    }

    /// Something that began just now, and has that time, and a second more for so many bytes of it.
    init(patience: Duration, rate: Int, now: Instant) {
        began = now
        lastReceived = now
        self.patience = patience
        self.rate = rate
    }

    /// The time begins anew: what came counts as having come now.
    mutating func restart(now: Instant) {
        began = now
        lastReceived = now
    }

    /// Gives back a time in which nothing could come.
    mutating func excuse(_ duration: Duration) {
        began = began.advanced(by: duration)
        lastReceived = lastReceived.advanced(by: duration)
    }

    /// Takes note of bytes of the body, as they were framed on their way.
    package mutating func received(_ count: Int, now: Instant) {
        received += count
        lastReceived = now
    }

    /// When the body is too slow unless more of it comes before.
    package var deadline: Instant {
        let next = lastReceived.advanced(by: patience)
        guard rate > 0 else { return next }
        return min(next, began.advanced(by: patience).advanced(by: .seconds(received / rate)))
    }
}

/// The pace of a body that the app may not take for a while, or of none.
///
/// Lies elsewhere: most connections have none most of the time.
enum PausablePace: Sendable {
    case none
    indirect case running(BodyPace)
    indirect case paused(BodyPace, since: Instant)

    /// As of ``BodyPace/deadline``; `nil` where nobody waits for the client.
    var deadline: Instant? {
        if case .running(let body) = self { body.deadline } else { nil }
    }

    mutating func received(_ count: Int, now: Instant) {
        switch self {
        case .none: break
        case .running(var body):
            body.received(count, now: now)
            self = .running(body)
        case .paused(var body, let since):
            body.received(count, now: now)
            self = .paused(body, since: since)
        }
    }

    mutating func pause(now: Instant) {
        if case .running(let body) = self { self = .paused(body, since: now) }
    }

    /// The time in between isn't the client's.
    mutating func resume(now: Instant) {
        guard case .paused(var body, let since) = self else { return }
        body.excuse(since.duration(to: now))
        self = .running(body)
    }
}
