// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// From bytes to events, and the search for the peer's close in what isn't to be parsed yet.

extension Session {
    /// Parses the input from `position` on, up to the next event, and moves `position` after what it took.
    ///
    /// Payload is unmasked in place. The same bytes give the same events in whichever pieces they come.
    ///
    /// - Parameters:
    ///   - input: what has arrived; may be changed up to `position`.
    ///   - position: where to begin; moved.
    ///   - now: the time.
    /// - Returns: the next event; `nil` once all of the input is taken, or as many frames as ``boundFrames(to:)`` says.
    public func nextEvent(in input: inout MutableRawSpan, at position: inout Int, now: Instant) -> Event? {
        if !streamsMessages, let message = nextWholeMessage(in: &input, at: &position, now: now) {
            return .message(message.kind, .input(message.range))
        }
        guard position < input.byteCount || hasMoreToGive else { return nil }
        if now != lastHeard { framesAllowed = frameBound }
        lastHeard = now
        return nextPart(&input, &position, now)
    }

    /// A message that came in one piece.
    public struct WholeMessage: Sendable, Hashable {
        /// Text or binary.
        public var kind: Message.Kind
        /// Where in the input the payload lies, unmasked; of a text, it is valid UTF-8.
        public var range: Range<Int>
    }

    /// The short way: the next message, if it is in one frame that lies whole in the input and is without fault.
    ///
    /// What ``nextEvent(in:at:now:)`` asks first. An owner who asks it here has the message without the price of an event
    /// that could be anything, which of a short message is a tenth.
    ///
    /// - Parameters: as in ``nextEvent(in:at:now:)``.
    /// - Returns: `nil`, with nothing taken, for all else; ``nextEvent(in:at:now:)`` says what it is instead.
    public func nextWholeMessage(
        in input: inout MutableRawSpan,
        at position: inout Int,
        now: Instant
    ) -> WholeMessage? {
        guard !isMidMessage, !isMidFrame, !isMidHeader, !isDeaf else { return nil }
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
        do throws(ProtocolError) {
            if let failure = streaming?.failure { throw failure }
            while !isDeaf {
                if !isMidFrame {
                    guard framesAllowed > 0 else { return nil }
                    guard let header = try nextHeader(input.bytes, &position) else { return nil }
                    tap?.began(header)
                    try check(header)
                    try begin(header, now)
                }
                if let event = try takePayload(&input, &position, now) { return event }
                if isMidFrame { return nil }
            }
        } catch {
            tap?.ended()
            stopListening()
            return .violation(error)
        }
        position = input.byteCount
        return nil
    }

    private func nextHeader(_ input: RawSpan, _ position: inout Int) throws(ProtocolError) -> FrameHeader? {
        let header = try headers.parse(input, from: &position)
        isMidHeader = headers.isMidHeader || tap != nil
        return header
    }

    /// Checks what a header may say at this point (RFC 6455 sections 5.1 to 5.5).
    private func check(_ header: FrameHeader) throws(ProtocolError) {
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

    private func malformed(_ header: FrameHeader) -> ProtocolError {
        if header.reservedBits != 0 && !beginsCompressed(header) { return wrongBits(header) }
        if header.opcode.isReserved { return ProtocolError(.reservedOpcode, "The \(header.opcode) is reserved.") }
        let message = role == .server ? "A client's frame isn't masked." : "A server's frame is masked."
        return ProtocolError(.wrongMasking, message)
    }

    private func misplaced(_ header: FrameHeader) -> ProtocolError {
        let isContinuation = header.opcode == .continuation
        return ProtocolError(
            .wrongFragmentation,
            isContinuation ? "A continuation has no beginning." : "A message begins within another."
        )
    }

    private func checkControl(_ header: FrameHeader) throws(ProtocolError) {
        if !header.isFinal { throw ProtocolError(.malformedControl, "A \(header.opcode) frame is fragmented.") }
        if header.payloadLength > UInt64(FrameHeader.maximumControlPayload) {
            throw ProtocolError(.malformedControl, "A \(header.opcode) frame has \(header.payloadLength) bytes.")
        }
    }

    /// Bounds the work of a turn: so many frames are begun at one instant, and then ``nextEvent(in:at:now:)`` leaves what there
    /// is until it is asked at a later one.
    ///
    /// Empty frames, pings and pongs cost their sender next to nothing, and most of them make no message whose number could be
    /// bounded. Those that ``nextWholeMessage(in:at:now:)`` gives are the owner's to count. Default: any number.
    public func boundFrames(to count: Int32) {
        frameBound = count
        framesAllowed = count
    }

    private func begin(_ header: FrameHeader, _ now: Instant) throws(ProtocolError) {
        framesAllowed &-= frameBound == .max ? 0 : 1
        if let streaming, header.opcode != .continuation { streaming.frames &+= 1 }
        if !header.opcode.isControl {
            if !isMidMessage { beginMessage(header, now) }
            isMidMessage = true
            if let streaming, streaming.incoming != nil {
                try beginFragment(header.payloadLength, of: streaming)
            } else if let compression, compression.isInflating {
                try beginFragment(header.payloadLength, of: compression)
            } else {
                try partial?.assembler.beginFragment(length: header.payloadLength, limits: limits)
            }
        }
        isMidFrame = true
        frame = IncomingFrame(
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
            partial = PartialMessage(MessageAssembler(kind, pace: MessagePace(limits, now: now), buffer: buffer ?? []))
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
    ) throws(ProtocolError) -> Event? {
        if let streaming, streaming.incoming != nil, !frame.opcode.isControl {
            return try takePiece(&input, &position, streaming)
        }
        let count = Int(min(frame.remaining, UInt64(input.byteCount - position)))
        let range = position..<(position + count)
        if frame.key != 0 {
            input.mask(range, with: frame.key)
            frame.key = Masking.rotated(frame.key, by: count)
        }
        position = range.upperBound
        frame.remaining -= UInt64(count)
        let bytes = input.bytes.extracting(range)
        tap?.arrived(bytes)
        if !frame.opcode.isControl { partial?.assembler.pace?.received(count, now: now) }
        if frame.opcode.isControl {
            frame.control.append(bytes)
            try checkClosePrefix()
        } else if let compression, compression.isInflating {
            try partial?.assembler.inflate(bytes, with: compression.inflater, limits: limits)
        } else {
            try partial?.assembler.append(bytes, expected: frame.remaining)
        }
        if frame.remaining > 0 { return nil }
        isMidFrame = false
        tap?.ended()
        return try complete(now)
    }

    /// What a close frame must not say is a violation before its frame has come whole, as it is in a text.
    private func checkClosePrefix() throws(ProtocolError) {
        guard frame.opcode == .close, frame.remaining > 0, frame.control.count >= 2 else { return }
        try CloseFrame.check(prefix: frame.control)
    }

    private func complete(_ now: Instant) throws(ProtocolError) -> Event? {
        if frame.opcode.isControl { controlFramesIn &+= 1 }
        switch frame.opcode {
        case .ping:
            if canSend { control.pong(frame.control) }
            return .ping
        case .pong:
            guard let (id, roundTrip) = liveness.pong(frame.control, now: now) else { return .unaskedPong }
            record(roundTrip)
            return .pong(id, roundTrip: roundTrip)
        case .close:
            return try peerClose(frame.control)
        default:
            guard frame.isFinal else { return nil }
            let isInflated = compression?.isInflating == true
            if isInflated, let compression { try endInflating(compression) }
            guard let message = partial?.assembler else { return nil }
            partial = nil
            isMidMessage = false
            let buffer = try message.finish()
            countArrived(buffer.count, now)
            if isInflated, let tap { tap.inflated(.incoming, buffer.span.raw) }
            return .message(message.kind, .assembled(buffer))
        }
    }

    private func peerClose(_ payload: [UInt8]) throws(ProtocolError) -> Event {
        report.received = try CloseFrame(payload: payload)
        // RFC 6455 section 5.5.1: nothing follows a close frame.
        stopListening()
        if report.initiator == nil { report.initiator = .remote }
        // It is closed already where the frame was answered ahead.
        if state != .closed { state = report.sent == nil ? .closing : .closed }
        return .peerClose
    }

    /// From here on what arrives is thrown away, so the peer owes no sign of life either, and what has arrived of a
    /// message is of no use.
    func stopListening() {
        isDeaf = true
        endIsAhead = false
        compression?.inflater.stop()
        partial = nil
        streaming?.stopGiving()
        if isMidMessage { endedWithinMessage = true }
        isMidMessage = false
        liveness.stop()
    }

    // MARK: Looking for the end

    // An end that is known before all that came in front of it has been parsed, as the app takes its time with it.

    /// Begins to look for the peer's close frame in what comes next and isn't to be parsed yet; `nil` within a frame.
    package func searchClose() -> CloseSearch? {
        isMidFrame || headers.isMidHeader || isDeaf ? nil : CloseSearch(isMasked: role == .server)
    }

    /// The peer's close frame was found behind what isn't parsed yet.
    ///
    /// As behind ``Event/peerClose``, ``answerClose(now:)`` may be called. The messages in front of it are still given.
    ///
    /// - Parameter payload: of the close frame, unmasked.
    /// - Returns: false where the frame is none that may be answered; it is judged when it is parsed.
    package func peerCloses(ahead payload: [UInt8]) -> Bool {
        guard state == .open, let frame = try? CloseFrame(payload: payload) else { return false }
        report.received = frame
        if report.initiator == nil { report.initiator = .remote }
        state = .closing
        endIsAhead = true
        return true
    }

    /// All that had come in front of the end is parsed.
    package func endInput() {
        stopListening()
    }

    /// The transport is about to end, with messages that have come and aren't parsed yet: they are still given.
    package func keepListening() {
        if !isDeaf { endIsAhead = true }
    }
}

/// Looks for the peer's close frame among frames that have come and aren't to be parsed yet.
///
/// Goes from header to header and keeps nothing but the payload of a close frame, of 125 bytes at most. The session finds out
/// later what is wrong with the frames on the way; where one can't be gone past, the search is over.
package struct CloseSearch: Sendable {
    private var headers = FrameHeaderParser()
    /// The masking key of the close frame that is being received, with its bytes so far.
    private var close: (key: UInt32, payload: [UInt8])?
    /// How much of the frame is still to come.
    private var remaining: UInt64 = 0
    private let isMasked: Bool
    /// Whether nothing will be found any more.
    package private(set) var isOver = false

    /// Makes a search that begins with the next byte, which begins a frame.
    ///
    /// - Parameter isMasked: whether the peer's frames are.
    init(isMasked: Bool) {
        self.isMasked = isMasked
    }

    /// Goes on with what has arrived, in any pieces.
    ///
    /// - Parameter bytes: what comes behind all that was handed in before.
    /// - Returns: the payload of the close frame, unmasked, once all of it is there.
    package mutating func search(_ bytes: RawSpan) -> [UInt8]? {
        var position = 0
        while !isOver {
            if remaining > 0 { take(bytes, &position) }
            guard remaining == 0 else { return nil }
            if let close { return finish(close) }
            guard let header = nextHeader(bytes, &position) else { return nil }
            remaining = header.payloadLength
            if header.opcode == .close { close = (header.maskingKey ?? 0, []) }
        }
        return nil
    }

    private mutating func take(_ bytes: RawSpan, _ position: inout Int) {
        let count = Int(min(remaining, UInt64(bytes.byteCount - position)))
        close?.payload.append(bytes.extracting(position..<(position + count)))
        position += count
        remaining -= UInt64(count)
    }

    private mutating func finish(_ close: (key: UInt32, payload: [UInt8])) -> [UInt8] {
        isOver = true
        return close.payload.indices.map { index in
            close.payload[index] ^ UInt8(truncatingIfNeeded: Masking.rotated(close.key, by: index))
        }
    }

    private mutating func nextHeader(_ bytes: RawSpan, _ position: inout Int) -> FrameHeader? {
        let parsed: FrameHeader?
        do throws(ProtocolError) {
            parsed = try headers.parse(bytes, from: &position)
        } catch {
            isOver = true
            return nil
        }
        guard let header = parsed else { return nil }
        // RFC 6455 sections 5.1 and 5.5: what breaks these rules is a violation, and nothing behind it counts.
        let isTooLong = header.opcode.isControl && header.payloadLength > UInt64(FrameHeader.maximumControlPayload)
        isOver = (header.maskingKey != nil) != isMasked || isTooLong || header.opcode.isReserved
        return isOver ? nil : header
    }
}
