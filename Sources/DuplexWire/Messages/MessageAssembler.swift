// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Puts a message together that came in several frames, or in a frame that came in several reads.
struct MessageAssembler {
    private(set) var buffer: [UInt8]
    private(set) var fragments = 0
    let kind: Message.Kind
    private var validator = UTF8Validator()
    /// How slowly it may come; `nil` for as slowly as its sender likes.
    let pace: MessagePace?

    /// Makes one.
    ///
    /// - Parameters:
    ///   - kind: the message's.
    ///   - pace: how slowly it may come. Default: as slowly as its sender likes.
    ///   - buffer: memory for it, empty. Default: none.
    init(_ kind: Message.Kind, pace: MessagePace? = nil, buffer: consuming [UInt8] = []) {
        self.kind = kind
        self.pace = pace
        self.buffer = buffer
    }

    /// Takes the header of the next fragment.
    ///
    /// - Throws: ``WebSocketProtocolError`` when a limit would be passed (1009 for the size, 1008 for the number of fragments),
    ///   before any of the payload is held.
    mutating func beginFragment(length: UInt64, limits: AssemblyLimits) throws(WebSocketProtocolError) {
        fragments += 1
        // One frame is always allowed: a message that comes in one piece never gets here, and every split is to be alike.
        if fragments > max(1, limits.fragments) {
            throw WebSocketProtocolError(.tooManyFragments, "A message has more than \(limits.fragments) fragments.")
        }
        if !Self.allows(length, held: buffer.count, limits) { throw Self.tooLarge(length, limits) }
    }

    /// Whether a frame may be taken that is a message of that many bytes.
    @inline(__always)
    static func allows(whole count: Int, _ limits: AssemblyLimits) -> Bool {
        count <= limits.frameSize.bytes && count <= limits.messageSize.bytes
    }

    /// Whether a frame of that length may be taken when so much of its message is held.
    @inline(__always)
    static func allows(_ length: UInt64, held: Int, _ limits: AssemblyLimits) -> Bool {
        length <= UInt64(limits.frameSize.bytes) && length <= UInt64(limits.messageSize.bytes - held)
    }

    private static func tooLarge(_ length: UInt64, _ limits: AssemblyLimits) -> WebSocketProtocolError {
        if length > UInt64(limits.frameSize.bytes) {
            return WebSocketProtocolError(
                .frameTooLarge,
                "A frame of \(length) bytes is longer than the \(limits.frameSize) allowed."
            )
        }
        return WebSocketProtocolError(.messageTooLarge, "A message is longer than the \(limits.messageSize) allowed.")
    }

    /// Takes unmasked payload.
    ///
    /// - Parameters:
    ///   - bytes: the payload, which is copied.
    ///   - expected: how many bytes of this frame are still to come behind these.
    /// - Throws: ``WebSocketProtocolError`` (1007) at the first byte that no text can have.
    mutating func append(_ bytes: RawSpan, expected: UInt64) throws(WebSocketProtocolError) {
        if kind == .text && !validator.validate(bytes) { throw .invalidUTF8 }
        reserve(bytes.byteCount, expected)
        buffer.append(bytes)
    }

    /// Makes room for the bytes and what is still to come of their frame, but never more than about twice what has
    /// arrived, so that a peer can't make memory be held by announcing a length.
    ///
    /// Always at least doubles, so that a message that comes in small pieces is moved a bounded number of times: growing
    /// to the exact size would move all of it for each piece.
    private mutating func reserve(_ count: Int, _ expected: UInt64) {
        let needed = buffer.count + count
        guard needed > buffer.capacity else { return }
        let wanted = Int(clamping: UInt64(needed) + min(expected, UInt64(max(needed, 4_096))))
        buffer.reserveCapacity(max(wanted, 2 * buffer.capacity))
    }

    // MARK: Compressed messages

    /// Takes the beginning of the next fragment of a compressed message, whose length is checked elsewhere.
    mutating func beginCompressedFragment(limits: AssemblyLimits) throws(WebSocketProtocolError) {
        fragments += 1
        if fragments > max(1, limits.fragments) {
            throw WebSocketProtocolError(.tooManyFragments, "A message has more than \(limits.fragments) fragments.")
        }
    }

    /// Takes unmasked payload of a compressed message.
    ///
    /// What comes out is checked piece by piece in its order, so that the first fault of the message is found in every
    /// split of it, and never more than one byte beyond the limit is held.
    ///
    /// - Throws: ``WebSocketProtocolError``: 1009 beyond the limit, 1007 at the first byte that no text can have and for what
    ///   can't be inflated.
    mutating func inflate(
        _ bytes: RawSpan,
        with inflater: any MessageInflater,
        limits: AssemblyLimits
    ) throws(WebSocketProtocolError) {
        var position = 0
        var hasMore = true
        while hasMore {
            hasMore = try inflate(limits, expecting: bytes.byteCount - position) { buffer, room in
                inflater.inflate(bytes, from: &position, into: &buffer, upTo: room)
            }
        }
    }

    /// Takes the end of a compressed message, which the sender has left out.
    mutating func inflateEnd(with inflater: any MessageInflater, limits: AssemblyLimits) throws(WebSocketProtocolError)
    {
        var hasMore = true
        while hasMore {
            hasMore = try inflate(limits, expecting: 0) { buffer, room in
                inflater.inflateEnd(into: &buffer, upTo: room)
            }
        }
    }

    /// The most that is inflated before it is checked.
    private static let inflatedPiece = 64 * 1_024

    /// Inflates a piece.
    ///
    /// - Returns: whether there may be more.
    private mutating func inflate(
        _ limits: AssemblyLimits,
        expecting count: Int,
        _ body: (inout [UInt8], Int) -> InflateProgress
    ) throws(WebSocketProtocolError) -> Bool {
        let held = buffer.count
        // JSON shrinks to a quarter or less. As for other messages, the room at least doubles, with what has come out.
        if buffer.capacity - held < 64 { buffer.reserveCapacity(max(2 * held, 64 + 4 * min(count, 16_384))) }
        let allowed = limits.messageSize.bytes - held
        let room = min(buffer.capacity - held, Self.inflatedPiece, allowed == .max ? allowed : allowed + 1)
        let progress = body(&buffer, room)
        if kind == .text {
            guard let next = validated(from: held, to: min(buffer.count, limits.messageSize.bytes)) else {
                throw .invalidUTF8
            }
            validator = next
        }
        if buffer.count > limits.messageSize.bytes {
            throw WebSocketProtocolError(
                .messageTooLarge,
                "A message inflates to more than the \(limits.messageSize) allowed."
            )
        }
        if progress == .corrupt { throw .malformedCompression }
        return progress == .outputFull
    }

    /// The validator behind these bytes of the buffer; `nil` if no text can have them.
    private func validated(from start: Int, to end: Int) -> UTF8Validator? {
        var validator = validator
        return validator.validate(buffer.span.raw.extracting(start..<end)) ? validator : nil
    }

    /// The whole message.
    ///
    /// - Throws: ``WebSocketProtocolError`` (1007) when a text ends within a character.
    consuming func finish() throws(WebSocketProtocolError) -> [UInt8] {
        if kind == .text && !validator.isComplete { throw .invalidUTF8 }
        return buffer
    }
}

/// A message that is being put together, behind a reference: a connection between two messages has room for that only.
final class PartialMessage {
    var assembler: MessageAssembler

    init(_ assembler: MessageAssembler) {
        self.assembler = assembler
    }
}
