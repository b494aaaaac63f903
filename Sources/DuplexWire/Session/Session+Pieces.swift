// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Messages of any length, piece by piece, in bounded memory.

extension Session {
    /// Gives messages that begin from here on in pieces, as they come: ``Event/piece(_:)`` instead of ``Event/message(_:_:)``.
    ///
    /// The pieces of a message make up its payload; where they are cut depends on how it arrived, and nothing else does. All
    /// that is right before a fault is given before the fault. Of ``MessageLimits`` only the number of fragments holds, and counts
    /// those without payload. A message that has begun comes as it began. The owner asks ``nextEvent(in:at:now:)`` then, and
    /// not for whole messages, and asks until there is no event: there may be more when all of the input is taken.
    ///
    /// - Parameter limit: the longest message, in bytes after inflating; a longer one fails with 1009. Default: no
    ///   limit.
    public func streamMessages(limit: ByteCount = .unlimited) {
        let streaming = streaming ?? MessageStreaming()
        streaming.isOn = true
        streaming.limit = limit
        self.streaming = streaming
    }

    /// Begins to count frames for ``takeCountedFrames()``.
    public func countFrames() {
        streaming = streaming ?? MessageStreaming()
    }

    /// The messages and control frames that have begun since the last call, besides those that
    /// ``nextWholeMessage(in:at:now:)`` gave; 0 where nothing is counted.
    public func takeCountedFrames() -> Int {
        defer { streaming?.frames = 0 }
        return streaming?.frames ?? 0
    }

    /// Whether messages that begin from here on are given in pieces.
    public var streamsMessages: Bool { streaming?.isOn == true }

    /// Whether ``nextEvent(in:at:now:)`` has something to give without further input.
    public var hasMoreToGive: Bool {
        guard let streaming else { return false }
        if streaming.failure != nil { return true }
        return isMidFrame && !frame.opcode.isControl && streaming.incoming != nil
            && (frame.remaining == 0 || streaming.incoming?.inflatesMore == true)
    }

    /// Takes what there is of the payload of a message that is given in pieces.
    func takePiece(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ streaming: MessageStreaming
    ) throws(ProtocolError) -> Event? {
        if let compression, compression.isInflating {
            return try inflatePiece(&input, &position, streaming, compression)
        }
        let range = position..<(position + payloadCount(input, position, MessagePiece.largest))
        unmask(&input, range)
        position = range.upperBound
        tap?.arrived(input.bytes.extracting(range))
        if frame.remaining == 0 { endFrame() }
        let isLast = frame.remaining == 0 && frame.isFinal
        return try give(input.bytes.extracting(range), isLast, nil, streaming) { count in
            .input(range.lowerBound..<(range.lowerBound + count))
        }
    }

    private func endFrame() {
        isMidFrame = false
        tap?.ended()
    }

    private func payloadCount(_ input: borrowing MutableRawSpan, _ position: Int, _ most: Int) -> Int {
        min(Int(min(frame.remaining, UInt64(input.byteCount - position))), most)
    }

    private func unmask(_ input: inout MutableRawSpan, _ range: Range<Int>) {
        if frame.key != 0 {
            input.mask(range, with: frame.key)
            frame.key = Masking.rotated(frame.key, by: range.count)
        }
        frame.remaining -= UInt64(range.count)
    }

    /// Makes a piece of what came, as far as it is right.
    ///
    /// - Throws: what is wrong, when nothing comes before it.
    private func give(
        _ bytes: RawSpan,
        _ isLast: Bool,
        _ fault: ProtocolError?,
        _ streaming: MessageStreaming,
        _ payload: (Int) -> Payload
    ) throws(ProtocolError) -> Event? {
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
            isMidMessage = false
            countArrived(incoming.count, lastHeard)
            if let compression, compression.isInflating { compression.endMessage(inflated: incoming.count) }
        }
        return .piece(
            MessagePiece(kind: incoming.kind, isFirst: isFirst, isLast: ends, payload: payload(checked.count))
        )
    }

    // MARK: Compressed messages

    /// The most input that is unmasked before it is inflated: what the inflater leaves is masked again.
    private static let inflatingStep = 4 * 1_024

    private func inflatePiece(
        _ input: inout MutableRawSpan,
        _ position: inout Int,
        _ streaming: MessageStreaming,
        _ compression: MessageCompression
    ) throws(ProtocolError) -> Event? {
        var output: [UInt8] = []
        var step = InflateStep.more
        let allowed = streaming.incoming?.allowed ?? 0
        while step == .more, output.count < MessagePiece.largest, output.count <= allowed {
            let most = min(MessagePiece.largest - output.count, allowed == .max ? .max : allowed - output.count + 1)
            step = inflateStep(&input, &position, &output, most, streaming, compression.inflater)
        }
        if step == .frameTaken || step == .messageTaken { endFrame() }
        var fault = step == .corrupt ? ProtocolError.malformedCompression : nil
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
        let count = payloadCount(input, position, Self.inflatingStep)
        let inflatesMore = streaming.incoming?.inflatesMore == true
        if count == 0 && !inflatesMore {
            if frame.remaining > 0 { return .inputTaken }
            if !frame.isFinal { return .frameTaken }
            switch inflater.inflateEnd(into: &output, upTo: min(most, 1_024)) {
            case .outputFull: return .more
            case .inputTaken: return .messageTaken
            case .corrupt: return .corrupt
            }
        }
        let room = min(most, max(1_024, 4 * count, inflatesMore ? Self.inflatingStep : 0))
        let key = frame.key
        let range = position..<(position + count)
        unmask(&input, range)
        var taken = 0
        let progress = inflater.inflate(input.bytes.extracting(range), from: &taken, into: &output, upTo: room)
        position += taken
        tap?.arrived(input.bytes.extracting(range.lowerBound..<position))
        if taken < count {
            // The owner hands in these again, perhaps from elsewhere, and as they came.
            frame.remaining += UInt64(count - taken)
            frame.key = key == 0 ? 0 : Masking.rotated(key, by: taken)
            if key != 0 { input.mask(position..<range.upperBound, with: frame.key) }
        }
        streaming.incoming?.inflatesMore = progress == .outputFull
        return progress == .corrupt ? .corrupt : .more
    }
}

/// A part of a message, given before the rest of it has come; see ``Session/streamMessages(limit:)``.
public struct MessagePiece: Sendable {
    /// Text or binary, the same for all pieces of a message.
    public var kind: Message.Kind
    /// Whether a message begins with it.
    public var isFirst: Bool
    /// Whether its message ends with it: then it may be empty, as no other piece is.
    public var isLast: Bool
    /// At most ``largest`` bytes; of a text, UTF-8 as far as it goes, which may be the middle of a character.
    public var payload: Session.Payload

    /// The most bytes of one piece: 64 KiB.
    public static let largest = 64 * 1_024
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
    var failure: ProtocolError?
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
    mutating func beginFragment(length: UInt64, isCompressed: Bool) throws(ProtocolError) {
        if length == 0 { emptyFrames += 1 }
        if emptyFrames > max(1, limits.fragments) {
            throw ProtocolError(.tooManyFragments, "A message has more than \(limits.fragments) empty fragments.")
        }
        if !isCompressed && length > UInt64(allowed) { throw tooLarge }
    }

    var tooLarge: ProtocolError {
        ProtocolError(.messageTooLarge, "A message is longer than the \(limits.messageSize) allowed.")
    }

    /// Checks the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: what may be given; not beyond the limit.
    ///   - isLast: whether the message ends behind them.
    /// - Returns: how many may be given, and what is wrong behind them.
    mutating func check(_ bytes: RawSpan, isLast: Bool) -> (count: Int, failure: ProtocolError?) {
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
            reservedBits: isCompressed && !hasBegun ? Session.compressedBit : 0,
            opcode: hasBegun ? .continuation : kind.opcode,
            maskingKey: key,
            payloadLength: UInt64(length)
        )
    }
}
