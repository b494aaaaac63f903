// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// permessage-deflate (RFC 7692), on connections that have agreed on it.

extension Session {
    /// The bit of a frame that says that its message is compressed (RFC 7692 section 6).
    static let compressedBit = MessageCompression.reservedBit

    // MARK: Arriving

    /// Whether the reserved bits say that a compressed message begins, and may say so.
    func beginsCompressed(_ header: FrameHeader) -> Bool {
        compression != nil && header.reservedBits == Self.compressedBit && !header.opcode.isControl
            && header.opcode != .continuation
    }

    /// What is wrong with reserved bits that have no meaning where they are (RFC 6455 section 5.2, RFC 7692 section 6.1).
    func wrongBits(_ header: FrameHeader) -> ProtocolError {
        if compression == nil || header.reservedBits != Self.compressedBit {
            return ProtocolError(.reservedBits, "A reserved bit is set.")
        }
        let place = header.opcode.isControl ? "A \(header.opcode) frame" : "A fragment behind the first"
        return ProtocolError(.reservedBits, "\(place) says that it is compressed.")
    }

    func beginFragment(_ length: UInt64, of compression: MessageCompression) throws(ProtocolError) {
        try partial?.assembler.beginCompressedFragment(limits: limits)
        try compression.beginFragment(length: length, limits: limits)
    }

    func beginFragment(_ length: UInt64, of streaming: MessageStreaming) throws(ProtocolError) {
        let isInflating = compression?.isInflating == true
        try streaming.incoming?.beginFragment(length: length, isCompressed: isInflating)
        guard isInflating, let compression, let incoming = streaming.incoming else { return }
        try compression.beginFragment(length: length, limits: incoming.limits)
    }

    /// Inflates the end, which the sender has left out (RFC 7692 section 7.2.2).
    func endInflating(_ compression: MessageCompression) throws(ProtocolError) {
        try partial?.assembler.inflateEnd(with: compression.inflater, limits: limits)
        compression.endMessage(inflated: partial?.assembler.buffer.count ?? 0)
    }

    // MARK: Sending

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
    public func compress(_ payload: RawSpan, _ choice: Bool? = nil, _ body: (RawSpan) -> Void) -> Bool {
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
    public func sendsCompressed(_ frame: MessageFrame) -> [UInt8]? {
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
    public func encode(compressed kind: Message.Kind, _ payload: RawSpan, into output: inout OutputRawSpan) {
        guard canSend else { return }
        let key = maskingKeys?.next()
        let header = FrameHeader(
            reservedBits: Self.compressedBit,
            opcode: kind.opcode,
            maskingKey: key,
            payloadLength: UInt64(payload.byteCount)
        )
        header.write(into: &output)
        tap?.sent(header, payload)
        output.append(payload)
        if let key { output.maskLast(payload.byteCount, with: key) }
    }
}

extension DeflateAgreement {
    /// Whether messages of that side may refer to those before them.
    public func takesOver(_ sender: Session.Role) -> Bool {
        !(sender == .server ? serverNoContextTakeover : clientNoContextTakeover)
    }

    /// The largest window that that side deflates with, as an exponent.
    public func windowBits(_ sender: Session.Role) -> Int {
        sender == .server ? serverMaxWindowBits : clientMaxWindowBits
    }
}
