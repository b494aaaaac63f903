// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A part of a message, given before the rest of it has come.
public struct MessagePiece: Sendable {
    /// Text or binary, the same for all pieces of a message.
    package var kind: Message.Kind
    /// Whether a message begins with it.
    package var isFirst: Bool
    /// Whether its message ends with it: then it may be empty, as no other piece is.
    package var isLast: Bool
    /// At most `largest` bytes; of a text, UTF-8 as far as it goes, which may be the middle of a character.
    package var payload: WebSocketSession.Payload

    /// The most bytes of one piece: 64 KiB.
    package static let largest = 64 * 1_024
}

/// What a session needs beyond whole messages: there is one only where messages come or go in pieces.
final class MessageStreaming {
    /// Whether messages that begin from here on are given in pieces.
    var isOn = false
    /// The longest message that is given in pieces.
    var limit = ByteCount.unlimited
    /// The message that is being given.
    var incoming: IncomingPieces?
    /// What is wrong behind the piece that was given last.
    var failure: WebSocketProtocolError?
    /// The message that is being sent.
    var outgoing: OutgoingPieces?
    /// The messages and control frames that began, but for those that went the short way.
    var frames = 0

    /// Nothing more is given.
    func stopGiving() {
        incoming = nil
        failure = nil
    }
}

/// A message that is given in pieces: how far it has come.
struct IncomingPieces: Sendable {
    let kind: Message.Kind
    let limits: AssemblyLimits
    private var validator = UTF8Validator()
    /// The bytes that were given.
    private(set) var count = 0
    private var emptyFrames = 0
    private var hasBegun = false
    /// Whether the inflater has taken bytes of which more may come.
    var inflatesMore = false

    init(_ kind: Message.Kind, limits: AssemblyLimits) {
        self.kind = kind
        self.limits = limits
    }

    /// The bytes that may still be given.
    var allowed: Int { limits.messageSize.bytes - count }

    /// Takes the header of the next fragment.
    ///
    /// Frames with payload need no bound of their number, as nothing is kept of them; those without cost the peer next to
    /// nothing, so they have that of whole messages.
    mutating func beginFragment(length: UInt64, isCompressed: Bool) throws(WebSocketProtocolError) {
        if length == 0 { emptyFrames += 1 }
        if emptyFrames > max(1, limits.fragments) {
            throw WebSocketProtocolError(
                .tooManyFragments,
                "A message has more than \(limits.fragments) empty fragments."
            )
        }
        if !isCompressed && length > UInt64(allowed) { throw tooLarge }
    }

    var tooLarge: WebSocketProtocolError {
        WebSocketProtocolError(.messageTooLarge, "A message is longer than the \(limits.messageSize) allowed.")
    }

    /// Checks the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: what may be given; not beyond the limit.
    ///   - isLast: whether the message ends behind them.
    /// - Returns: how many may be given, and what is wrong behind them.
    mutating func check(_ bytes: RawSpan, isLast: Bool) -> (count: Int, failure: WebSocketProtocolError?) {
        guard kind == .text else { return (bytes.byteCount, nil) }
        let before = validator
        if validator.validate(bytes) {
            return (bytes.byteCount, isLast && !validator.isComplete ? .invalidUTF8 : nil)
        }
        // What is right is given in every split; looked for byte by byte, once in the life of a connection.
        validator = before
        var count = 0
        while validator.validate(bytes.extracting(count..<(count + 1))) { count += 1 }
        return (count, .invalidUTF8)
    }

    /// Notes that so many bytes are given.
    ///
    /// - Returns: whether they are the first.
    mutating func give(_ given: Int) -> Bool {
        defer { hasBegun = true }
        count += given
        return !hasBegun
    }
}

/// A message that is sent in pieces: how far it is.
struct OutgoingPieces: Sendable {
    let kind: Message.Kind
    /// Whether its payload is deflated; settled with the first frame.
    var isCompressed: Bool
    private var validator = UTF8Validator()
    /// Whether a frame of it was written.
    var hasBegun = false
    /// The bytes that were handed over, and what they took in frames.
    var count = 0
    var sent = 0

    init(_ kind: Message.Kind, isCompressed: Bool) {
        self.kind = kind
        self.isCompressed = isCompressed
    }

    /// Whether the bytes may come next, and the text end behind them if it is to.
    mutating func accepts(_ bytes: RawSpan, isLast: Bool) -> Bool {
        guard kind == .text else { return true }
        var next = validator
        guard next.validate(bytes), !isLast || next.isComplete else { return false }
        validator = next
        return true
    }

    /// What stands before the next frame's payload (RFC 6455 section 5.4, RFC 7692 section 6.1).
    mutating func header(isLast: Bool, key: UInt32?, length: Int) -> FrameHeader {
        defer { hasBegun = true }
        return FrameHeader(
            isFinal: isLast,
            reservedBits: isCompressed && !hasBegun ? MessageCompression.reservedBit : 0,
            opcode: hasBegun ? .continuation : kind.opcode,
            maskingKey: key,
            payloadLength: UInt64(length)
        )
    }
}
