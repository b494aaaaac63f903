// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// A message of any length, sent in pieces (RFC 6455 section 5.4).

extension Session {
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
