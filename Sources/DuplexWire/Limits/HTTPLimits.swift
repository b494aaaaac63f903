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
    /// 0 allows a client to hold a connection for ever by sending a byte now and then. See ``BodyPace``.
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
    public func with(headTime: Duration) -> HTTPLimits {
        var copy = self
        copy.headTime = headTime
        return copy
    }
}

extension HTTPLimits {
    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("headTime", headTime)] }
}
