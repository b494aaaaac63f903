// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Puts a message together that came in several frames, or in a frame that came in several reads.
struct MessageAssembler: Sendable {
    let kind: Message.Kind
    private(set) var buffer: [UInt8] = []
    private(set) var fragments = 0
    private var validator = UTF8Validator()

    init(_ kind: Message.Kind) {
        self.kind = kind
    }

    /// Takes the header of the next fragment.
    ///
    /// - Throws: ``ProtocolError`` when a limit would be passed (1009 for the size, 1008 for the number of fragments),
    ///   before any of the payload is held.
    mutating func beginFragment(length: UInt64, limits: Limits) throws(ProtocolError) {
        fragments += 1
        // One frame is always allowed: a message that comes in one piece never gets here, and every split is to be alike.
        if fragments > max(1, limits.fragments) {
            throw ProtocolError(.tooManyFragments, "A message has more than \(limits.fragments) fragments.")
        }
        try Self.check(length, held: buffer.count, limits)
    }

    /// Whether a frame of that length may be taken when so much of its message is held.
    static func check(_ length: UInt64, held: Int, _ limits: Limits) throws(ProtocolError) {
        if length > UInt64(limits.frameSize.bytes) {
            throw ProtocolError(.frameTooLarge, "A frame of \(length) bytes is longer than the \(limits.frameSize) allowed.")
        }
        if length > UInt64(limits.messageSize.bytes - held) {
            throw ProtocolError(.messageTooLarge, "A message is longer than the \(limits.messageSize) allowed.")
        }
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

    /// Never more than twice what has arrived, so that a peer can't make memory be held by announcing a length; but as
    /// much again as is held, so that many small fragments don't each move all that came before them.
    private mutating func reserve(_ count: Int, _ expected: UInt64) {
        let needed = buffer.count + count
        guard needed > buffer.capacity else { return }
        let wanted = UInt64(needed) + min(max(expected, UInt64(buffer.count)), UInt64(max(needed, 4_096)))
        buffer.reserveCapacity(Int(clamping: wanted))
    }

    /// The whole message.
    ///
    /// - Throws: ``ProtocolError`` (1007) when a text ends within a character.
    consuming func finish() throws(ProtocolError) -> [UInt8] {
        if kind == .text && !validator.isComplete { throw .invalidUTF8 }
        return buffer
    }
}
