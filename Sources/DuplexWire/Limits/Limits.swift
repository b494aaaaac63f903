// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Bounds on what a peer may make this side hold or wait for.
///
/// Start from a preset and change what differs: `.internet.with(messageSize: .mebibytes(8))`.
public struct Limits: Sendable, Hashable {
    /// The longest message accepted, in bytes of payload over all its fragments; a longer one fails with close code 1009.
    public var messageSize: ByteCount
    /// The longest frame accepted, in bytes of payload; a longer one fails with close code 1009.
    public var frameSize: ByteCount
    /// The most frames that one message may be made of, empty ones counted, at least 1; one more fails with close code
    /// 1008.
    public var fragments: Int
    /// How long a peer may take to send a message, from its first frame on; `nil` for any time.
    ///
    /// There is a second more for each ``bodyRate`` of bytes that have come of it, as long as no longer than this goes by
    /// without any. A slower one fails with close code 1008: a peer that answers pings could otherwise have this side hold
    /// the beginning of a message for ever. The time begins anew when this side hasn't read for a while because the app was
    /// slow. It stands still while the peer isn't read because it was too fast (``messageRate``), for up to ten times as long.
    /// It doesn't hold for messages that are read in pieces, of which nothing is kept.
    public var messageTime: Duration?
    /// The most messages that wait for the app before reading from the peer stops.
    public var inboxMessages: Int
    /// The most bytes of messages that wait for the app before reading from the peer stops.
    public var inboxBytes: ByteCount
    /// The longest HTTP head (start line and fields with their line ends); a longer one is answered with 431 or 414.
    public var headSize: ByteCount
    /// The most fields in an HTTP head; one more is answered with 431.
    public var headFields: Int
    /// How long a peer may take to send a whole HTTP head; a slower one is answered with 408.
    public var headTime: Duration
    /// The longest HTTP request body that is collected; a longer one is answered with 413.
    public var bodySize: ByteCount
    /// The least bytes of an HTTP request body in a second, once `headTime` has passed; a slower one is answered with
    /// 408, as is one of which nothing comes for `headTime`.
    ///
    /// The least bytes of a message, too, once ``messageTime`` has passed.
    /// 0 allows a client to hold a connection for ever by sending a byte now and then. See ``BodyPace``.
    public var bodyRate: ByteCount
    /// The most connections that a server keeps at once from one IPv4 address, or from the 64 bits of an IPv6 address that a
    /// provider gives out; one more is closed at once.
    ///
    /// Those from this machine aren't counted: a proxy has the connections of many. Where it says for whom, by the PROXY
    /// protocol, those are counted.
    public var connectionsPerAddress: Int
    /// How many messages a peer may send in a second, control frames counted as messages; none of the presets says, as
    /// what is much depends on the app.
    ///
    /// A peer that is faster isn't failed: it is read more slowly, and TCP holds it back. So it costs no more than was allowed,
    /// and one that only had much to say at once loses nothing. Counted read by read: what came in one read is dealt with.
    public var messageRate: RateLimit?
    /// How many bytes a peer may send in a second, frames with their headers, compressed as they came; none of the presets
    /// says.
    ///
    /// A peer that is faster is read more slowly, as of ``messageRate``.
    public var byteRate: RateLimit?

    /// For peers that nobody vouches for; the default everywhere.
    ///
    /// Messages and frames of 1 MiB, 4,096 fragments, each message within 60 seconds and at 512 bytes a second from there
    /// on, an inbox of 16 messages or 1 MiB, heads of 16 KiB with 100 fields in 10 seconds, bodies of 1 MiB, at 512 bytes a
    /// second at least, 1,024 connections from an address.
    public static let internet = Limits(
        messageSize: .mebibytes(1),
        frameSize: .mebibytes(1),
        fragments: 4_096,
        messageTime: .seconds(60),
        inboxMessages: 16,
        inboxBytes: .mebibytes(1),
        headSize: .kibibytes(16),
        headFields: 100,
        headTime: .seconds(10),
        bodySize: .mebibytes(1),
        bodyRate: 512,
        connectionsPerAddress: 1_024
    )

    /// For peers on one's own network: messages and frames of 64 MiB, 65,536 fragments, 300 seconds for a message, an inbox
    /// of 64 messages or 16 MiB, heads of 64 KiB with 200 fields in 30 seconds, bodies of 64 MiB, at 512 bytes a second at
    /// least.
    public static let local = Limits(
        messageSize: .mebibytes(64),
        frameSize: .mebibytes(64),
        fragments: 65_536,
        messageTime: .seconds(300),
        inboxMessages: 64,
        inboxBytes: .mebibytes(16),
        headSize: .kibibytes(64),
        headFields: 200,
        headTime: .seconds(30),
        bodySize: .mebibytes(64),
        bodyRate: 512,
        connectionsPerAddress: .max
    )

    /// For peers that are trusted with this process's memory: messages, frames, fragments and bodies have no bound.
    ///
    /// The inbox keeps its bound, so that a slow app still slows its peer down; heads are bounded as in ``local``, and so
    /// is the time of bodies and of messages.
    public static let unlimited = Limits(
        messageSize: .unlimited,
        frameSize: .unlimited,
        fragments: .max,
        messageTime: .seconds(300),
        inboxMessages: 64,
        inboxBytes: .mebibytes(16),
        headSize: .kibibytes(64),
        headFields: 200,
        headTime: .seconds(30),
        bodySize: .unlimited,
        bodyRate: 512,
        connectionsPerAddress: .max
    )

    /// The same limits with another message size, and the frame size raised or lowered with it.
    public func with(messageSize: ByteCount) -> Limits {
        var copy = self
        copy.messageSize = messageSize
        copy.frameSize = messageSize
        return copy
    }

    /// The same limits with another number of fragments per message.
    public func with(fragments: Int) -> Limits {
        var copy = self
        copy.fragments = fragments
        return copy
    }

    /// The same limits with another time for a message to come; `nil` for any.
    public func with(messageTime: Duration?) -> Limits {
        var copy = self
        copy.messageTime = messageTime
        return copy
    }

    /// The same limits with another size of HTTP request bodies.
    public func with(bodySize: ByteCount) -> Limits {
        var copy = self
        copy.bodySize = bodySize
        return copy
    }

    /// The same limits with another time to read an HTTP head.
    public func with(headTime: Duration) -> Limits {
        var copy = self
        copy.headTime = headTime
        return copy
    }

    /// The same limits with other rates.
    ///
    /// - Parameters:
    ///   - messageRate: messages and control frames; `nil` for any number.
    ///   - byteRate: bytes; `nil` for any number.
    /// - Returns: the limits.
    public func with(messageRate: RateLimit?, byteRate: RateLimit? = nil) -> Limits {
        var copy = self
        copy.messageRate = messageRate
        copy.byteRate = byteRate
        return copy
    }

    /// The same limits with another number of connections from one address.
    public func with(connectionsPerAddress: Int) -> Limits {
        var copy = self
        copy.connectionsPerAddress = connectionsPerAddress
        return copy
    }
}
