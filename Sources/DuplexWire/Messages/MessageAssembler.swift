// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Puts a message together that came in several frames, or in a frame that came in several reads.
struct MessageAssembler: Sendable {
    private(set) var buffer: [UInt8] = []
    private(set) var fragments = 0
    let kind: Message.Kind
    private var validator = UTF8Validator()

    init(_ kind: Message.Kind) {
        self.kind = kind
    }

    /// Takes the header of the next fragment.
    ///
    /// - Throws: ``ProtocolError`` when a limit would be passed (1009 for the size, 1008 for the number of fragments),
    ///   before any of the payload is held.
    mutating func beginFragment(length: UInt64, limits: MessageLimits) throws(ProtocolError) {
        fragments += 1
        // One frame is always allowed: a message that comes in one piece never gets here, and every split is to be alike.
        if fragments > max(1, limits.fragments) {
            throw ProtocolError(.tooManyFragments, "A message has more than \(limits.fragments) fragments.")
        }
        if !Self.allows(length, held: buffer.count, limits) { throw Self.tooLarge(length, limits) }
    }

    /// Whether a frame of that length may be taken when so much of its message is held.
    @inline(__always)
    static func allows(_ length: UInt64, held: Int, _ limits: MessageLimits) -> Bool {
        length <= UInt64(limits.frameSize.bytes) && length <= UInt64(limits.messageSize.bytes - held)
    }

    private static func tooLarge(_ length: UInt64, _ limits: MessageLimits) -> ProtocolError {
        if length > UInt64(limits.frameSize.bytes) {
            return ProtocolError(
                .frameTooLarge,
                "A frame of \(length) bytes is longer than the \(limits.frameSize) allowed."
            )
        }
        return ProtocolError(.messageTooLarge, "A message is longer than the \(limits.messageSize) allowed.")
    }

    /// Takes unmasked payload.
    ///
    /// - Parameters:
    ///   - bytes: the payload, which is copied.
    ///   - expected: how many bytes of this frame are still to come behind these.
    /// - Throws: ``ProtocolError`` (1007) at the first byte that no text can have.
    mutating func append(_ bytes: RawSpan, expected: UInt64) throws(ProtocolError) {
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

    /// The whole message.
    ///
    /// - Throws: ``ProtocolError`` (1007) when a text ends within a character.
    consuming func finish() throws(ProtocolError) -> [UInt8] {
        if kind == .text && !validator.isComplete { throw .invalidUTF8 }
        return buffer
    }
}
