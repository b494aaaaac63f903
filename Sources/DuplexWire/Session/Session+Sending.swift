// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// From commands to bytes: frames, messages in pieces, and what is kept of control frames.

extension Session {
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
        guard !isMute, role == .server, compression == nil, tap == nil, count <= 0xFFFF else { return nil }
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
    public func encodeHeader(_ kind: Message.Kind, payload count: Int, into output: inout OutputRawSpan) {
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
    public func sends(_ frame: MessageFrame) -> Bool {
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
    public var hasControlOutput: Bool { !control.isEmpty }

    /// The room that ``writeControlOutput(into:)`` needs, in bytes.
    public var controlOutputSize: Int {
        control.frames.count * (FrameHeader.maximumSize + FrameHeader.maximumControlPayload)
    }

    /// Writes the pongs, pings and the close frame that wait.
    ///
    /// - Parameter output: must have room for ``controlOutputSize``.
    public func writeControlOutput(into output: inout OutputRawSpan) {
        for frame in control.takeAll() {
            controlFramesOut &+= 1
            let key = maskingKeys?.next()
            write(frame.opcode, frame.payload.span.raw, key, into: &output)
            output.append(frame.payload.span.raw)
            if let key { output.maskLast(frame.payload.count, with: key) }
        }
    }

    /// Queues a ping (RFC 6455 section 5.5.2).
    ///
    /// - Returns: an identity, which comes back with its pong.
    public func ping(now: Instant) -> UInt64 {
        let id = liveness.nextPing(now: now)
        if canSend { control.ping(Liveness.payload(id)) }
        return id
    }

    /// Queues a ping with a payload of the app's.
    ///
    /// Of several with the same payload, each pong answers the oldest.
    ///
    /// - Parameters:
    ///   - payload: what the pong will carry, too; cut at 125 bytes.
    ///   - now: the time.
    /// - Returns: an identity, which comes back with its pong.
    public func ping(_ payload: [UInt8], now: Instant) -> UInt64 {
        let payload = Array(payload.prefix(FrameHeader.maximumControlPayload))
        let id = liveness.nextPing(now: now, payload: payload)
        if canSend { control.ping(payload) }
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
    ///   - now: the time; the peer's close frame must come within ``closeTimeout`` of it.
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
    public func fail(_ error: ProtocolError, now: Instant) {
        stopListening()
        if report.error == nil { report.error = error }
        sendClose(CloseFrame(code: error.closeCode, reason: error.message), initiator: .local, now)
    }

    private func sendClose(_ frame: CloseFrame, initiator: CloseReport.Side, _ now: Instant) {
        guard canSend else { return }
        isMute = true
        compression?.deflater?.stop()
        report.sent = frame
        if report.initiator == nil { report.initiator = initiator }
        control.close(frame.payload)
        liveness.stop()
        state = report.received == nil ? .closing : .closed
        closeDeadline = now.advanced(by: closeTimeout)
    }

    /// Ends the connection at once, without a closing handshake; the owner resets the transport.
    ///
    /// The report says so, unless both close frames were exchanged before.
    public func reset() {
        if state != .closed {
            report.wasReset = true
            if report.initiator == nil { report.initiator = .local }
        }
        control.drop()
        endOfStream()
    }

    /// The transport has ended; with both close frames exchanged that is in order, else it is abnormal (1006).
    public func endOfStream() {
        state = .closed
        isMute = true
        compression?.deflater?.stop()
        if !endIsAhead { stopListening() }
    }

    // MARK: Messages in pieces (RFC 6455 section 5.4)

    /// Begins a message whose payload comes in pieces: each becomes a frame, by ``writePiece(_:isLast:_:)``.
    ///
    /// Until its last piece no other message may be sent; control frames may. Nothing goes out yet.
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - compress: whether to compress it if that was agreed on. Default: yes, as its length isn't known.
    public func beginMessage(_ kind: Message.Kind, compress: Bool = true) {
        let streaming = streaming ?? MessageStreaming()
        precondition(streaming.outgoing == nil, "A message begins within another.")
        streaming.outgoing = OutgoingPieces(kind, isCompressed: compress && compression?.deflater != nil)
        self.streaming = streaming
    }

    /// Whether a message was begun in pieces and hasn't ended.
    public var isMidSending: Bool { streaming?.outgoing != nil }

    /// Whether frames of it were written, so that it can be abandoned only with the connection.
    public var hasSentPiece: Bool { streaming?.outgoing?.hasBegun == true }

    /// Forgets a message of which nothing was written.
    public func abandonMessage() {
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
    public func writePiece(_ piece: RawSpan, isLast: Bool, _ body: (FrameHeader, RawSpan) -> Void) -> Bool {
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
    public func encode(frame header: FrameHeader, _ payload: RawSpan, into output: inout OutputRawSpan) {
        header.write(into: &output)
        output.append(payload)
        if let key = header.maskingKey { output.maskLast(payload.byteCount, with: key) }
    }
}

/// Control frames that wait to be sent.
///
/// Bounded: one pong, a few pings, one close frame.
struct ControlOutput: Sendable {
    struct Frame: Sendable {
        var opcode: Opcode
        var payload: [UInt8]
    }

    private(set) var frames: [Frame] = []

    /// The most pings that wait; a transport that takes none of so many gets no more.
    static let maximumPings = 16

    var isEmpty: Bool { frames.isEmpty }

    /// Answers a ping.
    ///
    /// When an earlier pong still waits, the later one replaces it (RFC 6455 section 5.5.3).
    mutating func pong(_ payload: [UInt8]) {
        frames.removeAll { $0.opcode == .pong }
        frames.append(Frame(opcode: .pong, payload: payload))
    }

    mutating func ping(_ payload: [UInt8]) {
        guard frames.count(where: { $0.opcode == .ping }) < Self.maximumPings else { return }
        frames.append(Frame(opcode: .ping, payload: payload))
    }

    /// The last frame there is.
    mutating func close(_ payload: [UInt8]) {
        frames.append(Frame(opcode: .close, payload: payload))
    }

    /// Nothing of it is to be sent any more.
    mutating func drop() { frames = [] }

    mutating func takeAll() -> [Frame] {
        defer { frames = [] }
        return frames
    }
}
