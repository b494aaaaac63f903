// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One side of a WebSocket connection after the handshake, without its socket (RFC 6455 sections 5 to 7).
///
/// Bytes go in and events come out; commands go in and bytes come out; instants are handed in. The owner moves bytes
/// between the session and a transport, and does what the events ask for:
///
/// - messages and pongs are for the app; pings are answered by the session;
/// - after ``Event/peerClose`` the owner lets the app answer what came before and calls ``answerClose(now:)``;
/// - after ``Event/violation(_:)`` likewise, and calls ``fail(_:now:)``;
/// - whenever ``hasControlOutput`` is true, ``writeControlOutput(into:)`` has something to send;
/// - when ``deadline`` has come, ``deadlinePassed(now:)`` says what to do.
///
/// There is one session for a connection, so it is a reference; it belongs to the owner of the connection, and isn't
/// safe to use from several threads. What every message asks for lies in plain fields of its own.
public final class Session {
    /// Which side of the connection this is.
    public enum Role: Sendable, Hashable {
        /// The side that connected; its frames are masked.
        case client
        /// The side that accepted; its frames aren't masked.
        case server
    }

    /// How far the connection is (RFC 6455 section 7.1).
    public enum State: Sendable, Hashable {
        /// Messages go both ways.
        case open
        /// One side has sent a close frame.
        case closing
        /// Both have, or the transport has ended.
        case closed
    }

    /// What arrived.
    public enum Event: Sendable {
        /// A whole message; of a text, the payload is valid UTF-8.
        case message(Message.Kind, Payload)
        /// A part of a message; see ``streamMessages(limit:)``.
        case piece(MessagePiece)
        /// A ping; its pong is in the control output, and ``Session/controlPayload`` is what both carry.
        case ping
        /// The pong for the ping with that identity, or for a later one.
        case pong(UInt64, roundTrip: Duration)
        /// A pong that answers no remembered ping: allowed, and only reported (RFC 6455 section 5.5.3).
        case unaskedPong
        /// The peer's close frame; nothing that follows it is parsed.
        case peerClose
        /// A rule was broken; nothing that follows is parsed.
        case violation(ProtocolError)
    }

    /// Where the payload of a message lies.
    public enum Payload: Sendable {
        /// Unmasked in the input, at that range.
        case input(Range<Int>)
        /// In a buffer of its own, because it arrived in pieces.
        case assembled([UInt8])
    }

    // Fields of one byte stand together: an idle connection is little more than this object, and gaps would be a tenth of
    // it. What every message asks for lies in plain fields of this module's own, which the compiler can see to be read and
    // written in single steps: they need no run-time check for overlapping accesses.

    package let role: Role
    /// How far the connection is.
    ///
    /// Not checked for overlapping accesses: it is one byte that is set and read at once, and each message asks.
    @safe @exclusivity(unchecked) public internal(set) var state = State.open
    /// Whether part of a header has been taken: whether ``headers`` holds something; with a tap always, since then no
    /// message may go the short way, which asks for nothing else.
    var isMidHeader = false
    var isMidFrame = false
    /// Whether a message has begun and not ended: whether ``partial`` is there.
    var isMidMessage = false
    /// Whether what arrives is thrown away: after the peer's close frame and after a violation.
    var isDeaf = false
    /// Whether nothing more is sent: this side has sent its close frame, or the transport has ended.
    var isMute = false
    /// Whether the end is known although what came before it isn't parsed yet; see ``peerCloses(ahead:)``.
    package internal(set) var endIsAhead = false
    /// How many frames ``nextEvent(in:at:now:)`` begins at one instant, and how many it still does.
    var frameBound = Int32.max
    var framesAllowed = Int32.max

    /// What it was made with.
    public let settings: SessionSettings
    let maskingKeys: MaskingKeys?
    /// How the connection ended, or how far its end has come.
    public internal(set) var report = CloseReport()
    /// How long a closing handshake may take.
    public var closeTimeout: Duration { settings.closeTimeout }
    var closing = CompactInstant()

    /// permessage-deflate, if it was agreed on: everything that it needs lies behind this one reference, and messages
    /// that aren't compressed don't ask for it.
    public let compression: MessageCompression?
    /// What is needed for messages in pieces; there is none where all are whole.
    var streaming: MessageStreaming?

    // What arrives.
    var headers = FrameHeaderParser()
    /// Whether the last message to arrive was begun and never ended, and nothing more will come; a byte behind fifteen.
    public internal(set) var endedWithinMessage = false
    /// The frame whose payload is being taken; means something while ``isMidFrame``.
    var frame = IncomingFrame(opcode: .continuation, isFinal: true, key: 0, remaining: 0)
    /// The message that has begun and is put together.
    var partial: PartialMessage?
    /// When something last arrived.
    var lastHeard: Instant

    // What is to be sent, and when.
    var control = ControlOutput()
    var liveness: Liveness
    // What has gone over the connection: plain numbers, since every message counts.
    var messagesIn = 0
    private var messagesOut = 0
    var bytesIn = 0
    var bytesOut = 0
    var controlFramesIn: UInt32 = 0
    var controlFramesOut: UInt32 = 0
    /// Sees the frames, if there is one.
    var tap: SessionTap?
    /// When the session was made.
    public let began: Instant
    /// Means something once a message has arrived.
    private var firstMessageAt: Instant
    /// There is one once a pong has come: a connection that is never pinged has no room for it.
    var roundTrips: RoundTrips?

    /// A frame whose payload hasn't arrived whole.
    struct IncomingFrame: Sendable {
        var opcode: Opcode
        var isFinal: Bool
        /// The key for the next byte.
        var key: UInt32
        var remaining: UInt64
        /// The payload so far, of a control frame.
        var control: [UInt8] = []
    }

    /// Makes the session of a connection whose handshake is done.
    ///
    /// - Parameters:
    ///   - role: which side this is.
    ///   - limits: what the peer may make this side hold.
    ///   - keepalive: when to ping. Default: a ping every 20 s, and 20 s for its pong.
    ///   - closeTimeout: how long a closing handshake may take. Default: 10 s.
    ///   - maskingKeys: where a client takes its masking keys from; a client must have it.
    ///   - compression: permessage-deflate, if it was agreed on in the handshake.
    ///   - tap: sees each frame. Default: none.
    ///   - now: the time.
    public convenience init(
        role: Role,
        limits: MessageLimits = .internet,
        keepalive: Keepalive = .every(.seconds(20), timeout: .seconds(20)),
        closeTimeout: Duration = .seconds(10),
        maskingKeys: MaskingKeys? = nil,
        compression: MessageCompression? = nil,
        tap: SessionTap? = nil,
        now: Instant
    ) {
        self.init(
            role: role,
            settings: SessionSettings(limits: limits, keepalive: keepalive, closeTimeout: closeTimeout),
            maskingKeys: maskingKeys,
            compression: compression,
            tap: tap,
            now: now
        )
    }

    /// Makes the session of a connection whose handshake is done, with settings that it shares with others.
    ///
    /// - Parameters:
    ///   - role: which side this is.
    ///   - settings: what is the same for all of them.
    ///   - maskingKeys: where a client takes its masking keys from; a client must have it.
    ///   - compression: permessage-deflate, if it was agreed on in the handshake.
    ///   - tap: sees each frame. Default: none.
    ///   - now: the time.
    public init(
        role: Role,
        settings: SessionSettings,
        maskingKeys: MaskingKeys? = nil,
        compression: MessageCompression? = nil,
        tap: SessionTap? = nil,
        now: Instant
    ) {
        precondition(role == .server || maskingKeys != nil, "A client masks its frames, and needs keys for it.")
        self.role = role
        self.settings = settings
        // RFC 6455 section 5.1: a server must not mask, even if it is handed keys.
        self.maskingKeys = role == .client ? maskingKeys : nil
        self.compression = compression
        self.tap = tap
        isMidHeader = tap != nil
        lastHeard = now
        began = now
        firstMessageAt = now
        liveness = Liveness(settings.keepalive, now: now)
    }

    var limits: AssemblyLimits { settings.limits }

    /// When the closing handshake must have come to its end.
    var closeDeadline: Instant? {
        get { closing.instant }
        set { closing.instant = newValue }
    }

    /// Whether messages may be sent: until this side has sent its close frame or the transport has ended.
    public var canSend: Bool { !isMute }

    /// The payload of the ping or the pong of the last event.
    public var controlPayload: [UInt8] { frame.control }

    /// The longest whole message accepted, as ``MessageLimits/messageSize`` says.
    public var messageSize: ByteCount { limits.messageSize }

    /// Whether this side's frames are masked (RFC 6455 section 5.1).
    public var masksFrames: Bool { role == .client }

    // MARK: Counts

    /// What has gone over the connection so far.
    public var counts: SessionCounts {
        var counts = SessionCounts()
        counts.messagesReceived = messagesIn
        counts.messagesSent = messagesOut
        counts.bytesReceived = bytesIn
        counts.bytesSent = bytesOut
        counts.controlFramesReceived = Int(controlFramesIn)
        counts.controlFramesSent = Int(controlFramesOut)
        return counts
    }

    /// When the first message had arrived whole; `nil` before.
    public var firstMessage: Instant? { messagesIn > 0 ? firstMessageAt : nil }

    /// When the peer was last heard of.
    public var lastHeardOf: Instant { lastHeard }

    /// Takes note of a message that has arrived whole.
    @inline(__always)
    func countArrived(_ bytes: Int, _ now: Instant) {
        if messagesIn == 0 { firstMessageAt = now }
        messagesIn &+= 1
        bytesIn &+= bytes
    }

    /// Takes note of a message that is sent.
    @inline(__always)
    func countSent(_ bytes: Int) {
        messagesOut &+= 1
        bytesOut &+= bytes
    }

    /// Takes back that a message counts as sent: the system has refused it.
    package func takeBackSent(_ bytes: Int) {
        messagesOut &-= 1
        bytesOut &-= bytes
    }
}

/// What sessions are made with: one for all connections that are made alike, which then hold no copy of it.
public final class SessionSettings: Sendable {
    /// The most messages that wait for the app.
    public let inboxMessages: Int
    /// The most bytes of messages that wait for the app.
    public let inboxBytes: ByteCount
    /// How long a closing handshake may take.
    public let closeTimeout: Duration
    let limits: AssemblyLimits
    let keepalive: KeepaliveTimes

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - limits: what the peer may make this side hold.
    ///   - keepalive: when to ping. Default: a ping every 20 s, and 20 s for its pong.
    ///   - closeTimeout: how long a closing handshake may take. Default: 10 s.
    public init(
        limits: MessageLimits = .internet,
        keepalive: Keepalive = .every(.seconds(20), timeout: .seconds(20)),
        closeTimeout: Duration = .seconds(10)
    ) {
        inboxMessages = limits.inboxMessages
        inboxBytes = limits.inboxBytes
        self.closeTimeout = closeTimeout
        self.limits = AssemblyLimits(limits)
        self.keepalive = KeepaliveTimes(keepalive)
    }
}

/// A ``Keepalive`` in nanoseconds.
final class KeepaliveTimes: Sendable {
    /// The first interval, and the one when the line is bad; 0 for no pings.
    let shortest: Int64
    let longest: Int64
    let timeout: Int64

    init(_ keepalive: Keepalive) {
        shortest = keepalive.interval?.wholeNanoseconds ?? 0
        longest = keepalive.longestInterval?.wholeNanoseconds ?? 0
        timeout = keepalive.timeout.wholeNanoseconds
    }
}

/// What has gone over a connection so far.
///
/// Messages count when they are whole, with the bytes that the app sees: of a compressed one those before deflating and
/// behind inflating. A value: a copy stays as it was.
public struct SessionCounts: Sendable, Hashable {
    /// Messages that have arrived whole.
    public var messagesReceived = 0
    /// Messages that were sent.
    public var messagesSent = 0
    /// The bytes of the messages that have arrived.
    public var bytesReceived = 0
    /// The bytes of the messages that were sent.
    public var bytesSent = 0
    /// Pings, pongs and close frames that have arrived.
    public var controlFramesReceived = 0
    /// Pings, pongs and close frames that were sent.
    public var controlFramesSent = 0

    /// Nothing yet.
    public init() {}

    /// What came to it since an earlier look.
    ///
    /// - Parameter earlier: what had gone over the same connection by then.
    /// - Returns: the difference.
    public func since(_ earlier: SessionCounts) -> SessionCounts {
        var counts = self
        counts.messagesReceived -= earlier.messagesReceived
        counts.messagesSent -= earlier.messagesSent
        counts.bytesReceived -= earlier.bytesReceived
        counts.bytesSent -= earlier.bytesSent
        counts.controlFramesReceived -= earlier.controlFramesReceived
        counts.controlFramesSent -= earlier.controlFramesSent
        return counts
    }
}
