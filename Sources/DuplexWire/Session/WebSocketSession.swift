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
/// - whenever ``controlOutputSize`` isn't 0, ``writeControlOutput(into:)`` has something to send;
/// - when ``deadline`` has come, ``deadlinePassed(now:)`` says what to do.
///
/// There is one session for a connection, so it is a reference; it belongs to the owner of the connection, and isn't
/// safe to use from several threads. What every message asks for lies in plain fields of its own.
public final class WebSocketSession {
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
        /// A part of a message, of a session that gives messages in pieces; others give them whole.
        case piece(MessagePiece)
        /// A ping; its pong is in the control output, and ``WebSocketSession/controlPayload`` is what both carry.
        case ping
        /// The pong for the ping with that identity, or for a later one.
        case pong(UInt64, roundTrip: Duration)
        /// A pong that answers no remembered ping: allowed, and only reported (RFC 6455 section 5.5.3).
        case unaskedPong
        /// The peer's close frame; nothing that follows it is parsed.
        case peerClose
        /// A rule was broken; nothing that follows is parsed.
        case violation(WebSocketProtocolError)
    }

    /// What the owner has to do when a deadline has passed.
    public enum TimeoutAction: Sendable, Hashable {
        /// Nothing.
        case none
        /// A ping waits in the control output.
        case wrote
        /// The peer was silent too long: fail the connection with this error.
        case pingTimedOut(WebSocketProtocolError)
        /// The peer took too long over a message: fail the connection with this error.
        case messageTimedOut(WebSocketProtocolError)
        /// The closing handshake took too long: end the transport (RFC 6455 section 7.1.1).
        case closeTimedOut
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
    // Not checked for overlapping accesses: these are bytes that are set and read at once, and each message asks.
    @safe @exclusivity(unchecked) private var arrival: FrameArrival
    @safe @exclusivity(unchecked) private var ending = SessionEnding()
    /// Whether the last message to arrive was begun and never ended, and nothing more will come.
    package private(set) var endedWithinMessage = false
    /// When the first message had come, from ``began`` on; means something once a message has arrived.
    private var firstMessageAfter = ShortTime(.zero)

    /// What it was made with.
    package let settings: SessionSettings
    /// permessage-deflate, if it was agreed on: everything that it needs lies behind this one reference, and messages
    /// that aren't compressed don't ask for it.
    package let compression: MessageCompression?
    /// What is made when something of it is needed; see ``extras``.
    private var keptExtras: Extras?

    /// When something last arrived.
    private var lastHeard: Instant
    private var liveness: Liveness
    // What has gone over the connection: plain numbers, since every message counts.
    private var messagesIn = 0
    private var messagesOut = 0
    private var bytesIn = 0
    private var bytesOut = 0
    /// When the session was made.
    package let began: Instant

    /// What a connection needs for frames that aren't whole messages, for pings and for its end.
    ///
    /// Behind one reference: a connection whose messages come whole has none of it before its first ping.
    private final class Extras {
        let maskingKeys: MaskingKeys?
        /// Sees the frames, if there is one.
        var tap: SessionTap?
        /// What is needed for messages in pieces; there is none where all are whole.
        var streaming: MessageStreaming?
        var headers = FrameHeaderParser()
        /// The frame whose payload is being taken; of a control frame, the payload stays here until the next one.
        var frame = IncomingFrame(opcode: .continuation, isFinal: true, key: 0, remaining: 0)
        /// How many frames are still begun at this instant.
        var framesAllowed: Int32
        /// The message that has begun and is put together.
        var partial: PartialMessage?
        /// What is to be sent.
        var control = ControlOutput()
        var controlFramesIn: UInt32 = 0
        var controlFramesOut: UInt32 = 0
        /// From the first one on.
        var sentPings: SentPings?
        var report = CloseReport()
        /// When the closing handshake must have come to its end.
        var closing: Instant?

        init(framesAllowed: Int32, _ maskingKeys: MaskingKeys? = nil, _ tap: SessionTap? = nil) {
            self.framesAllowed = framesAllowed
            self.maskingKeys = maskingKeys
            self.tap = tap
        }
    }

    private var extras: Extras {
        if let keptExtras { return keptExtras }
        let made = Extras(framesAllowed: settings.frames)
        keptExtras = made
        return made
    }

    private var pings: SentPings {
        if let sent = keptExtras?.sentPings { return sent }
        let made = SentPings()
        extras.sentPings = made
        return made
    }

    private var maskingKeys: MaskingKeys? { keptExtras?.maskingKeys }

    private var tap: SessionTap? {
        get { keptExtras?.tap }
        set { if keptExtras != nil || newValue != nil { extras.tap = newValue } }
    }

    private var streaming: MessageStreaming? {
        get { keptExtras?.streaming }
        set { if keptExtras != nil || newValue != nil { extras.streaming = newValue } }
    }

    /// A frame whose payload hasn't arrived whole.
    private struct IncomingFrame: Sendable {
        var opcode: Opcode
        var isFinal: Bool
        /// The key for the next byte.
        var key: UInt32
        var remaining: UInt64
        /// The payload so far, of a control frame.
        var control: [UInt8] = []
    }

    /// Makes the session of a connection whose handshake is done, without an extension.
    ///
    /// - Parameters:
    ///   - role: which side this is.
    ///   - limits: what the peer may make this side hold.
    ///   - pings: when to ping. Default: a ping every 20 s, and 20 s for its pong.
    ///   - closeTimeout: how long a closing handshake may take. Default: 10 s.
    ///   - maskingKeys: where a client takes its masking keys from; a client must have it.
    ///   - now: the time.
    public convenience init(
        role: Role,
        limits: MessageLimits = .internet,
        pings: PingPolicy = .every(.seconds(20), timeout: .seconds(20)),
        closeTimeout: Duration = .seconds(10),
        maskingKeys: MaskingKeys? = nil,
        now: Instant
    ) {
        let settings = SessionSettings(limits: limits, pings: pings, closeTimeout: closeTimeout, frames: .max)
        self.init(role: role, settings: settings, maskingKeys: maskingKeys, now: now)
    }

    /// Makes the session of a connection whose handshake is done, with what was agreed on in the handshake.
    ///
    /// - Parameters:
    ///   - role: which side this is.
    ///   - limits: what the peer may make this side hold.
    ///   - pings: when to ping. Default: a ping every 20 s, and 20 s for its pong.
    ///   - closeTimeout: how long a closing handshake may take. Default: 10 s.
    ///   - maskingKeys: where a client takes its masking keys from; a client must have it.
    ///   - compression: permessage-deflate, if it was agreed on in the handshake.
    ///   - tap: sees each frame. Default: none.
    ///   - now: the time.
    package convenience init(
        role: Role,
        limits: MessageLimits = .internet,
        pings: PingPolicy = .every(.seconds(20), timeout: .seconds(20)),
        closeTimeout: Duration = .seconds(10),
        maskingKeys: MaskingKeys? = nil,
        compression: MessageCompression? = nil,
        tap: SessionTap? = nil,
        now: Instant
    ) {
        self.init(
            role: role,
            settings: SessionSettings(limits: limits, pings: pings, closeTimeout: closeTimeout, frames: .max),
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
    package init(
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
        self.compression = compression
        // RFC 6455 section 5.1: a server must not mask, even if it is handed keys.
        let keys = role == .client ? maskingKeys : nil
        keptExtras = keys == nil && tap == nil ? nil : Extras(framesAllowed: settings.frames, keys, tap)
        arrival = tap == nil ? .message : .frame
        lastHeard = now
        began = now
        liveness = Liveness(settings.pings, now: now)
    }

    private var limits: AssemblyLimits { settings.limits }

    /// How long a closing handshake may take.
    package var closeTimeout: Duration { settings.closeTimeout }

    /// How far the connection is.
    public var state: State { ending.state }

    /// Whether messages may be sent: until this side has sent its close frame or the transport has ended.
    package var canSend: Bool { ending.canSend }

    /// Whether the end is known although what came before it isn't parsed yet; see ``peerCloses(ahead:)``.
    package var endIsAhead: Bool { ending.isAhead }

    /// How much is held of a message that is put together, and the room that it takes.
    var heldSize: (count: Int, capacity: Int)? {
        keptExtras?.partial.map { ($0.assembler.buffer.count, $0.assembler.buffer.capacity) }
    }

    /// Whether a message has begun to arrive and not ended.
    private var isMidMessage: Bool { keptExtras?.partial != nil || streaming?.incoming != nil }

    /// How the connection ended, or how far its end has come.
    public var report: CloseReport { keptExtras?.report ?? CloseReport() }

    /// The payload of the ping or the pong of the last event.
    public var controlPayload: [UInt8] { keptExtras?.frame.control ?? [] }

    /// The longest whole message accepted, as ``MessageLimits/messageSize`` says.
    package var messageSize: ByteCount { limits.messageSize }

    /// Whether this side's frames are masked (RFC 6455 section 5.1).
    package var masksFrames: Bool { role == .client }

    // MARK: Counts

    /// What has gone over the connection so far.
    package var counts: SessionCounts {
        var counts = SessionCounts()
        counts.messagesReceived = messagesIn
        counts.messagesSent = messagesOut
        counts.bytesReceived = bytesIn
        counts.bytesSent = bytesOut
        counts.controlFramesReceived = Int(keptExtras?.controlFramesIn ?? 0)
        counts.controlFramesSent = Int(keptExtras?.controlFramesOut ?? 0)
        return counts
    }

    /// When the first message had arrived whole; `nil` before.
    package var firstMessage: Instant? { messagesIn > 0 ? began.advanced(by: firstMessageAfter.duration) : nil }

    /// When the peer was last heard of.
    package var lastHeardOf: Instant { lastHeard }

    /// Takes note of a message that has arrived whole.
    @inline(__always)
    private func countArrived(_ bytes: Int, _ now: Instant) {
        if messagesIn == 0 { firstMessageAfter = ShortTime(began.duration(to: now)) }
        messagesIn &+= 1
        bytesIn &+= bytes
    }

    /// Takes note of a message that is sent.
    @inline(__always)
    private func countSent(_ bytes: Int) {
        messagesOut &+= 1
        bytesOut &+= bytes
    }

    /// Takes back that a message counts as sent: the system has refused it.
    package func takeBackSent(_ bytes: Int) {
        messagesOut &-= 1
        bytesOut &-= bytes
    }

    // MARK: From bytes to events

    /// Parses the input from `position` on, up to the next event, and moves `position` after what it took.
    ///
    /// Payload is unmasked in place. The same bytes give the same events in whichever pieces they come.
    ///
    /// - Parameters:
    ///   - input: what has arrived; may be changed up to `position`.
    ///   - position: where to begin; moved.
    ///   - now: the time.
    /// - Returns: the next event; `nil` once all of the input is taken, or as many frames as the session may take at once.
    public func nextEvent(in input: inout MutableRawSpan, at position: inout Int, now: Instant) -> Event? {
        if !streamsMessages, let message = nextWholeMessage(in: &input, at: &position, now: now) {
            return .message(message.kind, .input(message.range))
        }
        guard position < input.byteCount || hasMoreToGive else { return nil }
        if now != lastHeard { extras.framesAllowed = settings.frames }
        lastHeard = now
        return nextPart(&input, &position, now)
    }

    /// A message that came in one piece.
    package struct WholeMessage: Sendable, Hashable {
        /// Text or binary.
        package var kind: Message.Kind
        /// Where in the input the payload lies, unmasked; of a text, it is valid UTF-8.
        package var range: Range<Int>
    }

    /// The short way: the next message, if it is in one frame that lies whole in the input and is without fault.
    ///
    /// What ``nextEvent(in:at:now:)`` asks first. An owner who asks it here has the message without the price of an event
    /// that could be anything, which of a short message is a tenth.
    ///
    /// - Parameters: as in ``nextEvent(in:at:now:)``.
    /// - Returns: `nil`, with nothing taken, for all else; ``nextEvent(in:at:now:)`` says what it is instead.
    package func nextWholeMessage(
        in input: inout MutableRawSpan,
        at position: inout Int,
        now: Instant
    ) -> WholeMessage? {
        guard arrival == .message else { return nil }
        guard let frame = FrameHeaderParser.wholeMessage(input.bytes, at: position, isMasked: role == .server),
            MessageAssembler.allows(whole: frame.count, limits)
        else { return nil }
        let range = frame.start..<(frame.start + frame.count)
        // Frames that aren't masked have a key of 0, which changes nothing.
        if role == .server { input.mask(range, with: frame.key) }
        if frame.isText && !Self.isText(input.bytes.extracting(range)) {
            // Masking undoes itself: the long way finds the frame as it came, and says what is wrong with it.
            input.mask(range, with: frame.key)
            return nil
        }
        lastHeard = now
        position = range.upperBound
        countArrived(range.count, now)
        return WholeMessage(kind: frame.isText ? .text : .binary, range: range)
    }

    private static func isText(_ bytes: RawSpan) -> Bool {
        var validator = UTF8Validator()
        return validator.validate(bytes) && validator.isComplete
    }

    /// The long way: everything else, in any split.
    ///
    /// A function of its own, because a check for overlapping accesses that its loop needs would otherwise be made for
    /// each message that goes the short way.
    @inline(never)
    private func nextPart(_ input: inout MutableRawSpan, _ position: inout Int, _ now: Instant) -> Event? {
        do throws(WebSocketProtocolError) {
            if let failure = streaming?.failure { throw failure }
            while arrival != .nothing {
                if arrival != .payload {
                    guard extras.framesAllowed > 0 else { return nil }
                    guard let header = try nextHeader(input.bytes, &position) else { return nil }
                    tap?.began(header)
                    try check(header)
                    try begin(header, now)
                }
                if let event = try takePayload(&input, &position, now) { return event }
                if arrival == .payload { return nil }
            }
        } catch {
            tap?.ended()
            stopListening()
            return .violation(error)
        }
        position = input.byteCount
        return nil
    }

    private func nextHeader(_ input: RawSpan, _ position: inout Int) throws(WebSocketProtocolError) -> FrameHeader? {
        let extras = extras
        let header = try extras.headers.parse(input, from: &position)
        if extras.headers.isMidHeader { arrival.take(.headerBegins) }
        return header
    }

    /// Checks what a header may say at this point (RFC 6455 sections 5.1 to 5.5).
    private func check(_ header: FrameHeader) throws(WebSocketProtocolError) {
        // Without an extension that gives them a meaning, all three must be 0.
        let hasWrongBits = header.reservedBits != 0 && !beginsCompressed(header)
        if hasWrongBits || header.opcode.isReserved || (header.maskingKey != nil) != (role == .server) {
            throw malformed(header)
        }
        if header.opcode.isControl {
            try checkControl(header)
        } else if (header.opcode == .continuation) != isMidMessage {
            throw misplaced(header)
        }
    }

    private func malformed(_ header: FrameHeader) -> WebSocketProtocolError {
        if header.reservedBits != 0 && !beginsCompressed(header) { return wrongBits(header) }
        if header.opcode.isReserved {
            return WebSocketProtocolError(.reservedOpcode, "The \(header.opcode) is reserved.")
        }
        let message = role == .server ? "A client's frame isn't masked." : "A server's frame is masked."
        return WebSocketProtocolError(.wrongMasking, message)
    }

    private func misplaced(_ header: FrameHeader) -> WebSocketProtocolError {
        let isContinuation = header.opcode == .continuation
        return WebSocketProtocolError(
            .wrongFragmentation,
            isContinuation ? "A continuation has no beginning." : "A message begins within another."
        )
    }

    private func checkControl(_ header: FrameHeader) throws(WebSocketProtocolError) {
        if !header.isFinal {
            throw WebSocketProtocolError(.malformedControl, "A \(header.opcode) frame is fragmented.")
        }
        if header.payloadLength > UInt64(FrameHeader.maximumControlPayload) {
            throw WebSocketProtocolError(
                .malformedControl,
                "A \(header.opcode) frame has \(header.payloadLength) bytes."
            )
        }
    }

    /// Allows the frames of a turn, as ``SessionSettings/frames`` says.
    ///
    /// Without it, so many are begun at one instant, and then ``nextEvent(in:at:now:)`` leaves what there is until it is asked at a
    /// later one.
    ///
    /// Empty frames, pings and pongs cost their sender next to nothing, and most of them make no message whose number could be
    /// bounded. Those that ``nextWholeMessage(in:at:now:)`` gives are the owner's to count.
    package func beginTurn() { keptExtras?.framesAllowed = settings.frames }

    private func begin(_ header: FrameHeader, _ now: Instant) throws(WebSocketProtocolError) {
        let extras = extras
        extras.framesAllowed &-= settings.frames == .max ? 0 : 1
        if let streaming, header.opcode != .continuation { streaming.frames &+= 1 }
        if !header.opcode.isControl {
            if !isMidMessage { beginMessage(header, now) }
            if let streaming, streaming.incoming != nil {
                try beginFragment(header.payloadLength, of: streaming)
            } else if let compression, compression.isInflating {
                try beginFragment(header.payloadLength, of: compression)
            } else {
                try extras.partial?.assembler.beginFragment(length: header.payloadLength, limits: limits)
            }
        }
        arrival.take(.headerEnds)
        extras.frame = IncomingFrame(
            opcode: header.opcode,
            isFinal: header.isFinal,
            key: header.maskingKey ?? 0,
            remaining: header.payloadLength
        )
    }

    private func beginMessage(_ header: FrameHeader, _ now: Instant) {
        let kind = header.opcode == .text ? Message.Kind.text : .binary
        if let streaming, streaming.isOn {
            streaming.incoming = IncomingPieces(kind, limits: limits.streamed(streaming.limit))
        } else {
            let buffer = header.reservedBits != 0 ? compression?.buffer?.take() : nil
            let assembler = MessageAssembler(kind, pace: MessagePace(limits, now: now), buffer: buffer ?? [])
            extras.partial = PartialMessage(assembler)
        }
        compression?.beginMessage(isCompressed: header.reservedBits != 0)
    }

    /// Takes what there is of the frame's payload.
    ///
    /// - Returns: an event, if the frame is complete and makes one.
    private func takePayload(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ now: Instant
    ) throws(WebSocketProtocolError) -> Event? {
        let extras = extras
        if let streaming, streaming.incoming != nil, !extras.frame.opcode.isControl {
            return try takePiece(&input, &position, streaming)
        }
        let count = Int(min(extras.frame.remaining, UInt64(input.byteCount - position)))
        let range = position..<(position + count)
        if extras.frame.key != 0 {
            input.mask(range, with: extras.frame.key)
            extras.frame.key = Masking.rotated(extras.frame.key, by: count)
        }
        position = range.upperBound
        extras.frame.remaining -= UInt64(count)
        let bytes = input.bytes.extracting(range)
        tap?.arrived(bytes)
        if !extras.frame.opcode.isControl { extras.partial?.assembler.pace?.received(count, now: now) }
        if extras.frame.opcode.isControl {
            extras.frame.control.append(bytes)
            try checkClosePrefix(extras.frame)
        } else if let compression, compression.isInflating {
            try extras.partial?.assembler.inflate(bytes, with: compression.inflater, limits: limits)
        } else {
            try extras.partial?.assembler.append(bytes, expected: extras.frame.remaining)
        }
        if extras.frame.remaining > 0 { return nil }
        endFrame()
        return try complete(extras, now)
    }

    /// What a close frame must not say is a violation before its frame has come whole, as it is in a text.
    private func checkClosePrefix(_ frame: IncomingFrame) throws(WebSocketProtocolError) {
        guard frame.opcode == .close, frame.remaining > 0, frame.control.count >= 2 else { return }
        try CloseFrame.check(prefix: frame.control)
    }

    private func complete(_ extras: Extras, _ now: Instant) throws(WebSocketProtocolError) -> Event? {
        if extras.frame.opcode.isControl { extras.controlFramesIn &+= 1 }
        switch extras.frame.opcode {
        case .ping:
            if canSend { extras.control.pong(extras.frame.control) }
            return .ping
        case .pong:
            guard let (id, roundTrip) = extras.sentPings?.pong(extras.frame.control, now: now) else {
                return .unaskedPong
            }
            return .pong(id, roundTrip: roundTrip)
        case .close:
            return try peerClose(extras.frame.control)
        default:
            guard extras.frame.isFinal else { return nil }
            let isInflated = compression?.isInflating == true
            if isInflated, let compression { try endInflating(compression) }
            guard let message = extras.partial?.assembler else { return nil }
            extras.partial = nil
            awaitFrame()
            let buffer = try message.finish()
            countArrived(buffer.count, now)
            if isInflated, let tap { tap.inflated(.incoming, buffer.span.raw) }
            return .message(message.kind, .assembled(buffer))
        }
    }

    private func peerClose(_ payload: [UInt8]) throws(WebSocketProtocolError) -> Event {
        let frame = try CloseFrame(payload: payload)
        let extras = extras
        extras.report.received = frame
        // RFC 6455 section 5.5.1: nothing follows a close frame.
        ending.take(.hears)
        stopListening()
        if extras.report.initiator == nil { extras.report.initiator = .remote }
        return .peerClose
    }

    /// From here on what arrives is thrown away, so the peer owes no sign of life either, and what has arrived of a
    /// message is of no use.
    private func stopListening() {
        if isMidMessage { endedWithinMessage = true }
        arrival.take(.deafens)
        ending.take(.deafens)
        compression?.inflater.stop()
        keptExtras?.partial = nil
        streaming?.stopGiving()
        stopPings()
    }

    private func stopPings() {
        liveness.stop()
        keptExtras?.sentPings?.isHeard()
    }

    // MARK: Looking for the end

    // An end that is known before all that came in front of it has been parsed, as the app takes its time with it.

    /// Begins to look for the peer's close frame in what comes next and isn't to be parsed yet; `nil` within a frame.
    package func searchClose() -> CloseSearch? {
        guard arrival == .message || arrival == .frame else { return nil }
        return CloseSearch(isMasked: role == .server)
    }

    /// The peer's close frame was found behind what isn't parsed yet.
    ///
    /// As behind ``Event/peerClose``, ``answerClose(now:)`` may be called. The messages in front of it are still given.
    ///
    /// - Parameter payload: of the close frame, unmasked.
    /// - Returns: false where the frame is none that may be answered; it is judged when it is parsed.
    package func peerCloses(ahead payload: [UInt8]) -> Bool {
        guard state == .open, let frame = try? CloseFrame(payload: payload) else { return false }
        let extras = extras
        extras.report.received = frame
        if extras.report.initiator == nil { extras.report.initiator = .remote }
        ending.take(.finds)
        return true
    }

    /// All that had come in front of the end is parsed.
    package func endInput() {
        stopListening()
    }

    // MARK: Messages in pieces, as they arrive

    /// Gives messages that begin from here on in pieces, as they come: ``Event/piece(_:)`` instead of ``Event/message(_:_:)``.
    ///
    /// The pieces of a message make up its payload; where they are cut depends on how it arrived, and nothing else does. All
    /// that is right before a fault is given before the fault. Of ``MessageLimits`` only the number of fragments holds, and counts
    /// those without payload. A message that has begun comes as it began. The owner asks ``nextEvent(in:at:now:)`` then, and
    /// not for whole messages, and asks until there is no event: there may be more when all of the input is taken.
    ///
    /// - Parameter limit: the longest message, in bytes after inflating; a longer one fails with 1009. Default: no
    ///   limit.
    package func streamMessages(limit: ByteCount = .unlimited) {
        let streaming = streaming ?? MessageStreaming()
        streaming.isOn = true
        streaming.limit = limit
        self.streaming = streaming
    }

    /// Begins to count frames for ``takeCountedFrames()``.
    package func countFrames() {
        streaming = streaming ?? MessageStreaming()
    }

    /// The messages and control frames that have begun since the last call, besides those that
    /// ``nextWholeMessage(in:at:now:)`` gave; 0 where nothing is counted.
    package func takeCountedFrames() -> Int {
        defer { streaming?.frames = 0 }
        return streaming?.frames ?? 0
    }

    /// Whether messages that begin from here on are given in pieces.
    package var streamsMessages: Bool { streaming?.isOn == true }

    /// Whether ``nextEvent(in:at:now:)`` has something to give without further input.
    package var hasMoreToGive: Bool {
        guard let streaming else { return false }
        if streaming.failure != nil { return true }
        guard arrival == .payload, let frame = keptExtras?.frame else { return false }
        return !frame.opcode.isControl && streaming.incoming != nil
            && (frame.remaining == 0 || streaming.incoming?.inflatesMore == true)
    }

    /// Takes what there is of the payload of a message that is given in pieces.
    private func takePiece(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ streaming: MessageStreaming
    ) throws(WebSocketProtocolError) -> Event? {
        if let compression, compression.isInflating {
            return try inflatePiece(&input, &position, streaming, compression)
        }
        let range = position..<(position + payloadCount(input, position, MessagePiece.largest))
        unmask(&input, range)
        position = range.upperBound
        tap?.arrived(input.bytes.extracting(range))
        let frame = extras.frame
        if frame.remaining == 0 { endFrame() }
        let isLast = frame.remaining == 0 && frame.isFinal
        return try give(input.bytes.extracting(range), isLast, nil, streaming) { count in
            .input(range.lowerBound..<(range.lowerBound + count))
        }
    }

    private func endFrame() {
        awaitFrame()
        tap?.ended()
    }

    /// The next byte begins a frame.
    private func awaitFrame() { arrival.take(tap == nil && !isMidMessage ? .messageEnds : .frameEnds) }

    private func payloadCount(_ input: borrowing MutableRawSpan, _ position: Int, _ most: Int) -> Int {
        min(Int(min(extras.frame.remaining, UInt64(input.byteCount - position))), most)
    }

    private func unmask(_ input: inout MutableRawSpan, _ range: Range<Int>) {
        let extras = extras
        if extras.frame.key != 0 {
            input.mask(range, with: extras.frame.key)
            extras.frame.key = Masking.rotated(extras.frame.key, by: range.count)
        }
        extras.frame.remaining -= UInt64(range.count)
    }

    /// Makes a piece of what came, as far as it is right.
    ///
    /// - Throws: what is wrong, when nothing comes before it.
    private func give(
        _ bytes: RawSpan,
        _ isLast: Bool,
        _ fault: WebSocketProtocolError?,
        _ streaming: MessageStreaming,
        _ payload: (Int) -> Payload
    ) throws(WebSocketProtocolError) -> Event? {
        guard var incoming = streaming.incoming else { return nil }
        let checked = incoming.check(bytes, isLast: isLast)
        streaming.failure = checked.failure ?? fault
        if checked.count == 0, let failure = streaming.failure { throw failure }
        let ends = isLast && streaming.failure == nil
        if checked.count == 0 && !ends {
            streaming.incoming = incoming
            return nil
        }
        let isFirst = incoming.give(checked.count)
        streaming.incoming = ends ? nil : incoming
        if ends {
            awaitFrame()
            countArrived(incoming.count, lastHeard)
            if let compression, compression.isInflating { compression.endMessage(inflated: incoming.count) }
        }
        return .piece(
            MessagePiece(kind: incoming.kind, isFirst: isFirst, isLast: ends, payload: payload(checked.count))
        )
    }

    // MARK: Compressed messages in pieces

    /// The most input that is unmasked before it is inflated: what the inflater leaves is masked again.
    private static let inflatingStep = 4 * 1_024

    private func inflatePiece(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ streaming: MessageStreaming,
        _ compression: MessageCompression
    ) throws(WebSocketProtocolError) -> Event? {
        var output: [UInt8] = []
        var step = InflateStep.more
        let allowed = streaming.incoming?.allowed ?? 0
        while step == .more, output.count < MessagePiece.largest, output.count <= allowed {
            let most = min(MessagePiece.largest - output.count, allowed == .max ? .max : allowed - output.count + 1)
            step = inflateStep(&input, &position, &output, most, streaming, compression.inflater)
        }
        if step == .frameTaken || step == .messageTaken { endFrame() }
        var fault = step == .corrupt ? WebSocketProtocolError.malformedCompression : nil
        if output.count > allowed {
            output.removeLast(output.count - allowed)
            fault = streaming.incoming?.tooLarge
        }
        return try give(output.span.raw, step == .messageTaken && fault == nil, fault, streaming) { count in
            .assembled(count == output.count ? output : Array(output.prefix(count)))
        }
    }

    private enum InflateStep {
        /// There may be more at once.
        case more
        /// All of the input is taken, and more of the frame is to come.
        case inputTaken
        /// The frame is taken, which isn't the last of its message.
        case frameTaken
        /// The message is complete.
        case messageTaken
        /// What came isn't valid.
        case corrupt
    }

    private func inflateStep(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ output: inout [UInt8],
        _ most: Int,
        _ streaming: MessageStreaming,
        _ inflater: any MessageInflater
    ) -> InflateStep {
        let extras = extras
        let count = payloadCount(input, position, Self.inflatingStep)
        let inflatesMore = streaming.incoming?.inflatesMore == true
        if count == 0 && !inflatesMore {
            if extras.frame.remaining > 0 { return .inputTaken }
            if !extras.frame.isFinal { return .frameTaken }
            switch inflater.inflateEnd(into: &output, upTo: min(most, 1_024)) {
            case .outputFull: return .more
            case .inputTaken: return .messageTaken
            case .corrupt: return .corrupt
            }
        }
        let room = min(most, max(1_024, 4 * count, inflatesMore ? Self.inflatingStep : 0))
        let key = extras.frame.key
        let range = position..<(position + count)
        unmask(&input, range)
        var taken = 0
        let progress = inflater.inflate(input.bytes.extracting(range), from: &taken, into: &output, upTo: room)
        position += taken
        tap?.arrived(input.bytes.extracting(range.lowerBound..<position))
        if taken < count {
            // The owner hands in these again, perhaps from elsewhere, and as they came.
            extras.frame.remaining += UInt64(count - taken)
            extras.frame.key = key == 0 ? 0 : Masking.rotated(key, by: taken)
            if key != 0 { input.mask(position..<range.upperBound, with: extras.frame.key) }
        }
        streaming.incoming?.inflatesMore = progress == .outputFull
        return progress == .corrupt ? .corrupt : .more
    }

    // MARK: Sending

    /// The number of bytes that a message with a payload of that length takes on the wire, in one frame.
    public func encodedSize(payload count: Int) -> Int {
        FrameHeader.size(payload: count, isMasked: masksFrames) + count
    }

    /// Writes a whole message as one frame, or nothing once a close frame was sent (RFC 6455 section 5.5.1).
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - payload: of a text, valid UTF-8, which isn't checked again.
    ///   - output: must have room for ``encodedSize(payload:)``.
    public func encode(_ kind: Message.Kind, _ payload: RawSpan, into output: inout OutputRawSpan) {
        guard canSend else { return }
        countSent(payload.byteCount)
        let key = maskingKeys?.next()
        write(kind.opcode, payload, key, into: &output)
        output.append(payload)
        if let key { output.maskLast(payload.byteCount, with: key) }
    }

    /// The header of a short message, as a number.
    package struct ShortHeader {
        /// Its bytes, the first one lowest.
        package let bytes: UInt64
        /// How many there are.
        package let size: Int
    }

    /// The header of a message whose payload the owner writes itself, behind it and unchanged.
    ///
    /// The message counts as sent then.
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - count: the length of the payload in bytes.
    /// - Returns: `nil` for a message that is to be encoded: of clients, with compression or a tap, of
    ///   more than 65,535 bytes, and once a close frame was sent.
    package func shortHeader(_ kind: Message.Kind, payload count: Int) -> ShortHeader? {
        guard canSend, role == .server, compression == nil, tap == nil, count <= 0xFFFF else { return nil }
        countSent(count)
        // The end of its message, and text (1) or binary (2).
        let first: UInt64 = kind == .text ? 0x81 : 0x82
        let length = UInt64(truncatingIfNeeded: count)
        if count < 126 { return ShortHeader(bytes: first | length << 8, size: 2) }
        return ShortHeader(bytes: first | 126 << 8 | (length >> 8) << 16 | (length & 0xFF) << 24, size: 4)
    }

    /// Writes the header of a message whose payload the owner sends itself, after it and unchanged; for servers, whose
    /// payload isn't masked.
    ///
    /// Nothing once a close frame was sent. A tap sees the header alone.
    package func encodeHeader(_ kind: Message.Kind, payload count: Int, into output: inout OutputRawSpan) {
        guard canSend else { return }
        precondition(!masksFrames, "A client's payload must be masked.")
        countSent(count)
        let header = FrameHeader(opcode: kind.opcode, payloadLength: UInt64(count))
        header.write(into: &output)
        tap?.sent(header, RawSpan())
    }

    /// Whether a message goes out in the frame that was made for everybody; it counts as sent then, and the owner sends it.
    ///
    /// False for a client, which masks, where messages are compressed, with a tap, within a message in pieces, and once
    /// a close frame was sent: it is to be encoded as any other message.
    package func sends(_ frame: MessageFrame) -> Bool {
        guard canSend, !isMidSending, !masksFrames, compression == nil, tap == nil else { return false }
        countSent(frame.payload.byteCount)
        return true
    }

    @inline(__always)
    private func write(_ opcode: Opcode, _ payload: RawSpan, _ key: UInt32?, into output: inout OutputRawSpan) {
        let header = FrameHeader(opcode: opcode, maskingKey: key, payloadLength: UInt64(payload.byteCount))
        header.write(into: &output)
        if let tap { tap.sent(header, payload) }
    }

    // MARK: Control frames

    /// Whether pongs, pings or a close frame wait to be sent.
    package var hasControlOutput: Bool { keptExtras?.control.isEmpty == false }

    /// The room that ``writeControlOutput(into:)`` needs, in bytes.
    public var controlOutputSize: Int {
        (keptExtras?.control.frames.count ?? 0) * (FrameHeader.maximumSize + FrameHeader.maximumControlPayload)
    }

    /// Writes the pongs, pings and the close frame that wait.
    ///
    /// - Parameter output: must have room for ``controlOutputSize``.
    public func writeControlOutput(into output: inout OutputRawSpan) {
        guard let extras = keptExtras else { return }
        for frame in extras.control.takeAll() {
            extras.controlFramesOut &+= 1
            let key = maskingKeys?.next()
            write(frame.opcode, frame.payload.span.raw, key, into: &output)
            output.append(frame.payload.span.raw)
            if let key { output.maskLast(frame.payload.count, with: key) }
        }
    }

    /// Queues a ping (RFC 6455 section 5.5.2).
    ///
    /// Of several with the same payload, each pong answers the oldest.
    ///
    /// - Parameters:
    ///   - payload: what the pong will carry, too; cut at 125 bytes. Default: what tells it from other pings.
    ///   - now: the time.
    /// - Returns: an identity, which comes back with its pong.
    public func ping(_ payload: [UInt8]? = nil, now: Instant) -> UInt64 {
        let extras = extras
        let cut = payload.map { Array($0.prefix(FrameHeader.maximumControlPayload)) }
        let id = pings.next(now: now, payload: cut)
        if canSend { extras.control.ping(cut ?? SentPings.payload(id)) }
        return id
    }

    // MARK: Closing

    /// Begins to close: queues a close frame, unless one was sent before (RFC 6455 section 7.1.2).
    ///
    /// Messages of the peer still arrive until its own close frame.
    ///
    /// - Parameters:
    ///   - code: why, for programs; must be sendable, or ``CloseCode/noStatusReceived`` for a close frame without a code.
    ///   - reason: why, for people; cut at 123 bytes between scalars, and left out without a code.
    ///   - now: the time; the peer's close frame must come within `closeTimeout` of it.
    public func close(_ code: CloseCode, reason: String = "", now: Instant) {
        let isEmpty = code == .noStatusReceived
        precondition(code.isSendable || isEmpty, "The code \(code) may not go on the wire.")
        sendClose(CloseFrame(code: isEmpty ? nil : code, reason: reason), initiator: .local, now)
    }

    /// Answers the peer's close frame with its own code (RFC 6455 section 5.5.1).
    public func answerClose(now: Instant) {
        guard let received = report.received else { return }
        sendClose(CloseFrame(code: received.code), initiator: .remote, now)
    }

    /// Fails the connection: queues a close frame that says why, and throws away what arrives from here on (RFC 6455
    /// section 7.1.7).
    public func fail(_ error: WebSocketProtocolError, now: Instant) {
        stopListening()
        let extras = extras
        if extras.report.error == nil { extras.report.error = error }
        sendClose(CloseFrame(code: error.closeCode, reason: error.message), initiator: .local, now)
    }

    private func sendClose(_ frame: CloseFrame, initiator: CloseReport.Side, _ now: Instant) {
        guard canSend else { return }
        ending.take(.sends)
        compression?.deflater?.stop()
        let extras = extras
        extras.report.sent = frame
        if extras.report.initiator == nil { extras.report.initiator = initiator }
        extras.control.close(frame.payload)
        stopPings()
        extras.closing = now.advanced(by: closeTimeout)
    }

    /// Ends the connection at once, without a closing handshake; the owner resets the transport.
    ///
    /// The report says that it was reset, unless both close frames were exchanged before. Nothing more is parsed.
    public func reset() {
        if state != .closed {
            let extras = extras
            extras.report.wasReset = true
            if extras.report.initiator == nil { extras.report.initiator = .local }
        }
        keptExtras?.control.drop()
        stopListening()
        endOfStream()
    }

    /// The transport has ended; with both close frames exchanged that is in order, else it is abnormal (1006).
    public func endOfStream() { transportEnds(.ends) }

    /// The transport has ended with messages that have come and aren't parsed yet: they are still given.
    package func endOfStreamAhead() { transportEnds(arrival == .nothing ? .ends : .endsAhead) }

    private func transportEnds(_ event: SessionEnding.Event) {
        ending.take(event)
        compression?.deflater?.stop()
        if !ending.isAhead { stopListening() }
    }

    // MARK: Messages in pieces (RFC 6455 section 5.4)

    /// Begins a message whose payload comes in pieces: each becomes a frame, by ``writePiece(_:isLast:_:)``.
    ///
    /// Until its last piece no other message may be sent; control frames may. Nothing goes out yet.
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - compress: whether to compress it if that was agreed on. Default: yes, as its length isn't known.
    package func beginMessage(_ kind: Message.Kind, compress: Bool = true) {
        let streaming = streaming ?? MessageStreaming()
        precondition(streaming.outgoing == nil, "A message begins within another.")
        streaming.outgoing = OutgoingPieces(kind, isCompressed: compress && compression?.deflater != nil)
        self.streaming = streaming
    }

    /// Whether a message was begun in pieces and hasn't ended.
    package var isMidSending: Bool { streaming?.outgoing != nil }

    /// Whether frames of it were written, so that it can be abandoned only with the connection.
    package var hasSentPiece: Bool { streaming?.outgoing?.hasBegun == true }

    /// Forgets a message of which nothing was written.
    package func abandonMessage() {
        if !hasSentPiece { streaming?.outgoing = nil }
    }

    /// Makes a frame of the next piece of the message that was begun.
    ///
    /// - Parameters:
    ///   - piece: the bytes; may be empty, and of a text may end within a character unless it is the last.
    ///   - isLast: whether the message ends with it.
    ///   - body: gets the header and the payload, to be written with ``encode(frame:_:into:)`` at once.
    /// - Returns: false, with nothing written, if no text can have these bytes or end so, if there was no memory to
    ///   compress them, if no message was begun, or if a close frame was sent.
    package func writePiece(_ piece: RawSpan, isLast: Bool, _ body: (FrameHeader, RawSpan) -> Void) -> Bool {
        guard canSend, let streaming, var outgoing = streaming.outgoing else { return false }
        guard outgoing.accepts(piece, isLast: isLast) else { return false }
        outgoing.count += piece.byteCount
        if outgoing.isCompressed {
            var deflated: [UInt8] = []
            if compression?.deflater?.deflate(piece: piece, isLast: isLast, into: &deflated) == true {
                emit(deflated.span.raw, isLast, &outgoing, body)
                return true
            }
            if outgoing.hasBegun { return false }
            outgoing.isCompressed = false
        }
        emit(piece, isLast, &outgoing, body)
        return true
    }

    private func emit(
        _ payload: RawSpan,
        _ isLast: Bool,
        _ outgoing: inout OutgoingPieces,
        _ body: (FrameHeader, RawSpan) -> Void
    ) {
        outgoing.sent += payload.byteCount
        let header = outgoing.header(isLast: isLast, key: maskingKeys?.next(), length: payload.byteCount)
        streaming?.outgoing = isLast ? nil : outgoing
        if isLast, outgoing.isCompressed, let compression {
            compression.counts.messagesDeflated += 1
            compression.counts.bytesBeforeDeflating += outgoing.count
            compression.counts.bytesDeflated += outgoing.sent
        }
        if isLast { countSent(outgoing.count) }
        tap?.sent(header, payload)
        body(header, payload)
    }

    /// Writes a frame that ``writePiece(_:isLast:_:)`` has made, masked where it must be.
    ///
    /// - Parameters:
    ///   - header: what was handed over.
    ///   - payload: what was lent.
    ///   - output: must have room for ``encodedSize(payload:)``.
    package func encode(frame header: FrameHeader, _ payload: RawSpan, into output: inout OutputRawSpan) {
        header.write(into: &output)
        output.append(payload)
        if let key = header.maskingKey { output.maskLast(payload.byteCount, with: key) }
    }

    // MARK: Compressed messages that arrive

    /// Whether the reserved bits say that a compressed message begins, and may say so.
    private func beginsCompressed(_ header: FrameHeader) -> Bool {
        compression != nil && header.reservedBits == MessageCompression.reservedBit && !header.opcode.isControl
            && header.opcode != .continuation
    }

    /// What is wrong with reserved bits that have no meaning where they are (RFC 6455 section 5.2, RFC 7692 section 6.1).
    private func wrongBits(_ header: FrameHeader) -> WebSocketProtocolError {
        if compression == nil || header.reservedBits != MessageCompression.reservedBit {
            return WebSocketProtocolError(.reservedBits, "A reserved bit is set.")
        }
        let place = header.opcode.isControl ? "A \(header.opcode) frame" : "A fragment behind the first"
        return WebSocketProtocolError(.reservedBits, "\(place) says that it is compressed.")
    }

    private func beginFragment(_ length: UInt64, of compression: MessageCompression) throws(WebSocketProtocolError) {
        try extras.partial?.assembler.beginCompressedFragment(limits: limits)
        try compression.beginFragment(length: length, limits: limits)
    }

    private func beginFragment(_ length: UInt64, of streaming: MessageStreaming) throws(WebSocketProtocolError) {
        let isInflating = compression?.isInflating == true
        try streaming.incoming?.beginFragment(length: length, isCompressed: isInflating)
        guard isInflating, let compression, let incoming = streaming.incoming else { return }
        try compression.beginFragment(length: length, limits: incoming.limits)
    }

    /// Inflates the end, which the sender has left out (RFC 7692 section 7.2.2).
    private func endInflating(_ compression: MessageCompression) throws(WebSocketProtocolError) {
        try extras.partial?.assembler.inflateEnd(with: compression.inflater, limits: limits)
        compression.endMessage(inflated: extras.partial?.assembler.buffer.count ?? 0)
    }

    // MARK: Compressed messages that are sent

    /// Compresses a message and lends its payload, to be written with ``encode(compressed:_:into:)`` at once.
    ///
    /// A message that was compressed has to be sent, or the peer doesn't understand the next one.
    ///
    /// - Parameters:
    ///   - payload: the whole message.
    ///   - choice: whether to compress it; `nil` leaves it to the threshold.
    ///   - body: gets the compressed payload; called once when the result is true.
    /// - Returns: false if the message is to be sent as it is: it is short, the app says so, nothing was agreed on, there
    ///   was no memory, or a close frame was sent.
    package func compress(_ payload: RawSpan, _ choice: Bool? = nil, _ body: (RawSpan) -> Void) -> Bool {
        guard canSend, let compression, compression.compresses(payload.byteCount, choice) else { return false }
        if let tap { tap.inflated(.outgoing, payload) }
        var count = 0
        let isDone = compression.deflater?.deflate(payload) { deflated in
            count = deflated.byteCount
            body(deflated)
        }
        guard isDone == true else { return false }
        countSent(payload.byteCount)
        compression.counts.messagesDeflated += 1
        compression.counts.bytesBeforeDeflating += payload.byteCount
        compression.counts.bytesDeflated += count
        return true
    }

    /// The frame that was made for everybody, as it goes out where messages are compressed; it counts as sent then, and the
    /// owner sends it.
    ///
    /// The message is deflated by itself, once for all connections alike; it goes as it is below the threshold, and where
    /// deflating makes it no shorter.
    ///
    /// - Returns: `nil` where ``sends(_:)`` may say more, for a client, with a tap, within a message in pieces, and
    ///   once a close frame was sent: it is to be encoded as any other message.
    package func sendsCompressed(_ frame: MessageFrame) -> [UInt8]? {
        guard let compression, canSend, !isMidSending, !masksFrames, tap == nil else { return nil }
        let payload = frame.payload
        countSent(payload.byteCount)
        guard let deflater = compression.deflater, compression.compresses(payload.byteCount, nil),
            let deflated = frame.deflated(by: deflater)
        else { return frame.bytes }
        deflater.follow(payload)
        compression.counts.messagesDeflated += 1
        compression.counts.bytesBeforeDeflating += payload.byteCount
        compression.counts.bytesDeflated += deflated.payloadCount
        return deflated.bytes
    }

    /// Writes a message that ``compress(_:_:_:)`` has compressed, as one frame with the bit that says so (RFC 7692
    /// section 6.1), or nothing once a close frame was sent.
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - payload: what was lent.
    ///   - output: must have room for ``encodedSize(payload:)``.
    package func encode(compressed kind: Message.Kind, _ payload: RawSpan, into output: inout OutputRawSpan) {
        guard canSend else { return }
        let key = maskingKeys?.next()
        let header = FrameHeader(
            reservedBits: MessageCompression.reservedBit,
            opcode: kind.opcode,
            maskingKey: key,
            payloadLength: UInt64(payload.byteCount)
        )
        header.write(into: &output)
        tap?.sent(header, payload)
        output.append(payload)
        if let key { output.maskLast(payload.byteCount, with: key) }
    }

    // MARK: Time

    /// When ``deadlinePassed(now:)`` wants to be called next; `nil` while there is nothing to wait for.
    public var deadline: Instant? {
        switch ending.phase {
        case .closeSent: return keptExtras?.closing
        case .closedAhead, .closed: return nil
        case .open, .closeFound, .closeHeard: break
        }
        let pingDeadline = liveness.deadline(settings.pings, keptExtras?.sentPings)
        guard let messageDeadline else { return pingDeadline }
        return pingDeadline.map { min($0, messageDeadline) } ?? messageDeadline
    }

    /// When the message that is arriving must have come further.
    private var messageDeadline: Instant? { keptExtras?.partial?.assembler.pace?.deadline }

    /// Whether part of a message is held, so that ``deadline`` may have come nearer.
    package var holdsPartOfMessage: Bool { isMidMessage }

    /// Does what is due.
    public func deadlinePassed(now: Instant) -> TimeoutAction {
        if ending.phase == .closeSent, let deadline = keptExtras?.closing, now >= deadline { return .closeTimedOut }
        guard canSend else { return .none }
        if let messageDeadline, now >= messageDeadline {
            tap?.ended()
            stopListening()
            return .messageTimedOut(WebSocketProtocolError(.messageTimeout, "A message took longer than it may."))
        }
        switch liveness.deadlinePassed(settings.pings, pings, now: now, lastHeard: lastHeard) {
        case .fine: return .none
        case .ping:
            // A connection without compressed messages for an interval gives back what it holds between them.
            compression?.restIfIdle()
            _ = ping(now: now)
            return .wrote
        case .silent(let duration):
            stopPings()
            return .pingTimedOut(
                WebSocketProtocolError(
                    .pingTimeout,
                    "The peer has been silent for \(duration.rounded) after a ping."
                )
            )
        }
    }

    /// What the round trips of the pings have shown so far, the app's among them.
    package var latency: Latency { keptExtras?.sentPings?.latency ?? Latency() }

    /// Gives the message that is arriving its time anew: while this side doesn't read, its sender isn't the slow one.
    package func restartMessageTime(now: Instant) {
        keptExtras?.partial?.assembler.pace?.restart(now: now)
    }

    /// Gives the message that is arriving so much more time: the peer wasn't read for that long, as it was too fast.
    ///
    /// In all no more than ten times ``MessageLimits/messageTime``.
    package func excuseMessage(_ duration: Duration) {
        keptExtras?.partial?.assembler.pace?.excuse(duration)
    }

    /// Takes it that the peer is alive although nothing was heard: while this side doesn't read, silence says nothing.
    package func peerIsAlive(now: Instant) {
        lastHeard = now
    }

    // MARK: Observers

    /// Whether a tap sees the frames.
    package var isTapped: Bool { tap != nil }

    /// Adds an observer, from the next frame on.
    package func add(_ tap: SessionTap) {
        tap.next = self.tap
        self.tap = tap
        arrival.take(.isObserved)
    }

    /// Removes an observer; it doesn't see a frame that is arriving.
    package func remove(_ tap: SessionTap) {
        if self.tap === tap {
            self.tap = tap.next
        } else {
            var other = self.tap
            while let present = other, present.next !== tap { other = present.next }
            other?.next = tap.next
        }
        tap.next = nil
        if arrival == .frame { awaitFrame() }
    }
}

extension DeflateAgreement {
    /// Whether messages of that side may refer to those before them.
    package func takesOver(_ sender: WebSocketSession.Role) -> Bool {
        !(sender == .server ? serverNoContextTakeover : clientNoContextTakeover)
    }

    /// The largest window that that side deflates with, as an exponent.
    package func windowBits(_ sender: WebSocketSession.Role) -> Int {
        sender == .server ? serverMaxWindowBits : clientMaxWindowBits
    }
}
