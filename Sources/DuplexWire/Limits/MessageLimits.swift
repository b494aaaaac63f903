// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Bounds on what a peer's messages may make this side hold or wait for (RFC 6455 section 10.4).
///
/// Start from a preset and change what differs: `.internet.with(messageSize: .mebibytes(8))`.
public struct MessageLimits: Sendable, Hashable {
    /// The longest message accepted, in bytes of payload over all its fragments; a longer one fails with close code
    /// 1009.
    public var messageSize: ByteCount
    /// The longest frame accepted, in bytes of payload; a longer one fails with close code 1009.
    public var frameSize: ByteCount
    /// The most frames that one message may be made of, empty ones counted, at least 1; one more fails with close code
    /// 1008.
    public var fragments: Int
    /// How long a peer may take to send a message, from its first frame on; `nil` for any time.
    ///
    /// There is a second more for each ``minimumRate`` of bytes of it that have arrived, as long as no longer than this
    /// goes by without any. A slower one fails with close code 1008: a peer that answers pings could otherwise have
    /// this side hold the beginning of a message for ever. The time begins again when this side hasn't read for a while
    /// because the app was slow. It stands still while the peer isn't read because it was too fast (``messageRate``),
    /// for up to ten times as long. It doesn't hold for messages that are read in pieces, of which nothing is kept.
    public var messageTime: Duration?
    /// The least bytes of a message in a second, once ``messageTime`` has passed.
    ///
    /// 0 allows a peer to hold the beginning of a message for ever by sending a byte now and then.
    public var minimumRate: ByteCount
    /// The most messages that wait for the app before reading from the peer stops.
    public var inboxMessages: Int
    /// The most bytes of messages that wait for the app before reading from the peer stops.
    ///
    /// After a full inbox 64 KiB are kept as they came at most, so that a peer's close which lies there is answered at
    /// once.
    public var inboxBytes: ByteCount
    /// How many messages a peer may send in a second, control frames counted as messages.
    ///
    /// Default: no limit in any preset, as it depends on the app.
    ///
    /// A peer that is faster isn't failed: it is read more slowly, and TCP holds it back. So it costs no more than was
    /// allowed, and one that only had much to say at once loses nothing. Counted read by read: what came in one read is
    /// dealt with.
    public var messageRate: RateLimit?
    /// How many bytes a peer may send in a second, frames with their headers, compressed as they came.
    ///
    /// Default: no limit in any preset.
    ///
    /// A peer that is faster is read more slowly, as in ``messageRate``.
    public var byteRate: RateLimit?

    /// For untrusted peers; the default everywhere.
    ///
    /// Messages and frames of 1 MiB, 4,096 fragments, each message within 60 seconds and at 512 bytes a second from
    /// there on, an inbox of 16 messages or 1 MiB.
    public static let internet = MessageLimits(
        messageSize: .mebibytes(1),
        frameSize: .mebibytes(1),
        fragments: 4_096,
        messageTime: .seconds(60),
        minimumRate: 512,
        inboxMessages: 16,
        inboxBytes: .mebibytes(1)
    )

    /// For peers on one's own network: messages and frames of 64 MiB, 65,536 fragments, 300 seconds for a message, an
    /// inbox of 64 messages or 16 MiB.
    public static let local = MessageLimits(
        messageSize: .mebibytes(64),
        frameSize: .mebibytes(64),
        fragments: 65_536,
        messageTime: .seconds(300),
        minimumRate: 512,
        inboxMessages: 64,
        inboxBytes: .mebibytes(16)
    )

    /// For peers that are trusted with this process's memory: messages, frames and fragments have no bound.
    ///
    /// The inbox keeps its bound, so that a slow app still slows its peer down, and so does the time of a message.
    public static let unlimited = MessageLimits.local.with(messageSize: .unlimited).with(fragments: .max)

    /// The same limits with another message size, and the frame size raised or lowered with it.
    public func with(messageSize: ByteCount) -> MessageLimits {
        var copy = self
        copy.messageSize = messageSize
        copy.frameSize = messageSize
        return copy
    }

    /// The same limits with another number of fragments per message.
    package func with(fragments: Int) -> MessageLimits {
        var copy = self
        copy.fragments = fragments
        return copy
    }

    /// The same limits with another time for a message to come; `nil` for any.
    package func with(messageTime: Duration?) -> MessageLimits {
        var copy = self
        copy.messageTime = messageTime
        return copy
    }

    /// The same limits with other rates.
    ///
    /// - Parameters:
    ///   - messageRate: messages and control frames; `nil` for any number.
    ///   - byteRate: bytes; `nil` for any number.
    /// - Returns: the limits.
    public func with(messageRate: RateLimit?, byteRate: RateLimit? = nil) -> MessageLimits {
        var copy = self
        copy.messageRate = messageRate
        copy.byteRate = byteRate
        return copy
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("messageTime", optional: messageTime)] }
}

/// What ``MessageLimits`` says of putting messages together: the part that each connection keeps at hand.
struct AssemblyLimits: Sendable {
    let messageSize: ByteCount
    let frameSize: ByteCount
    let fragments: Int
    // Four bytes each, as every idle connection holds them: milliseconds up to 49 days, and bytes in a second.
    private let milliseconds: UInt32
    private let rate: UInt32

    init(_ limits: MessageLimits) {
        messageSize = limits.messageSize
        frameSize = limits.frameSize
        fragments = limits.fragments
        milliseconds = limits.messageTime.map { UInt32(clamping: max(0, $0.wholeNanoseconds) / 1_000_000) } ?? .max
        rate = UInt32(clamping: limits.minimumRate.bytes)
    }

    private init(messageSize: ByteCount, fragments: Int) {
        self.messageSize = messageSize
        frameSize = messageSize
        self.fragments = fragments
        milliseconds = .max
        rate = 0
    }

    /// The limits of a message that is given in pieces: nothing of it is kept, so it may take its time.
    func streamed(_ limit: ByteCount) -> AssemblyLimits {
        AssemblyLimits(messageSize: limit, fragments: fragments)
    }

    /// How slowly a message that begins now may come; `nil` for as slowly as its sender likes.
    func pace(now: Instant) -> BodyPace? {
        milliseconds == .max ? nil : BodyPace(patience: .milliseconds(milliseconds), rate: Int(rate), now: now)
    }
}

/// How slowly a message may come that is put together; see ``MessageLimits/messageTime``.
///
/// An object, so that a connection without such a message has room for a reference only.
final class MessagePace {
    private var pace: BodyPace
    /// How much time may still be given back.
    private var allowance: Duration

    init?(_ limits: AssemblyLimits, now: Instant) {
        guard let pace = limits.pace(now: now) else { return nil }
        self.pace = pace
        allowance = now.duration(to: pace.deadline) * 10
    }

    /// When it is too slow unless more of it comes before.
    var deadline: Instant { pace.deadline }

    /// Takes note of payload as it was on the wire.
    func received(_ count: Int, now: Instant) {
        if count > 0 { pace.received(count, now: now) }
    }

    func restart(now: Instant) { pace.restart(now: now) }

    /// Gives the time of a pause back, in all up to ten times what a message has.
    ///
    /// Without a bound a peer that floods would have every pause back, and could hold the beginning of a message for ever.
    func excuse(_ duration: Duration) {
        let given = min(duration, allowance)
        allowance -= given
        pace.excuse(given)
    }
}
