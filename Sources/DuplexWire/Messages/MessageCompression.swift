// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// permessage-deflate on one connection: what was agreed on, and what deflates and inflates (RFC 7692 section 7).
///
/// Belongs to one ``WebSocketSession``, as which it isn't safe to use from several threads.
package final class MessageCompression {
    /// What was agreed on in the handshake.
    package let agreement: DeflateAgreement
    /// Messages shorter than that are sent as they are.
    package let threshold: Int
    /// What was deflated and inflated so far.
    package internal(set) var counts = CompressionCounts()

    /// The bit of a frame that says that its message is compressed (RFC 7692 section 6).
    static let reservedBit: UInt8 = 0x40

    let inflater: any MessageInflater
    /// Without one, everything is sent as it is, which a sender always may (section 6.1).
    let deflater: (any MessageDeflater)?
    /// What messages are inflated into, where they are given back; `nil` where each has memory of its own.
    package let buffer: InflationBuffer?
    /// Whether the message that is arriving is compressed.
    var isInflating = false
    /// The payload of that message so far, as it came.
    private var heldDeflated: UInt64 = 0
    private var messagesAtLastLook = 0

    /// Puts together what a connection needs.
    ///
    /// - Parameters:
    ///   - agreement: what was agreed on in the handshake.
    ///   - threshold: messages shorter than that many bytes are sent as they are. Default: 0, so that all are
    ///     compressed.
    ///   - inflater: for what the peer sends, with the window that the agreement gives it.
    ///   - deflater: for what this side sends; `nil` if it compresses nothing.
    ///   - buffer: what messages are inflated into, for who gives them back. Default: none, so that each has memory of its own.
    package init(
        agreement: DeflateAgreement,
        threshold: Int = 0,
        inflater: any MessageInflater,
        deflater: (any MessageDeflater)?,
        buffer: InflationBuffer? = nil
    ) {
        self.agreement = agreement
        self.threshold = threshold
        self.inflater = inflater
        self.deflater = deflater
        self.buffer = buffer
    }

    /// Whether a message of that length is to be compressed.
    ///
    /// - Parameters:
    ///   - count: its bytes.
    ///   - choice: what the app says about this message; `nil` if it says nothing.
    /// - Returns: the answer.
    func compresses(_ count: Int, _ choice: Bool?) -> Bool {
        deflater != nil && (choice ?? (count >= threshold))
    }

    // MARK: Arriving

    func beginMessage(isCompressed: Bool) {
        isInflating = isCompressed
        heldDeflated = 0
    }

    /// Takes the length of the next fragment of a compressed message.
    ///
    /// What counts against the limits is what comes out. Deflate makes what it can't compress a little longer, so a
    /// frame may be longer by as much; but there are bytes of which nothing comes out, and those have a bound as well.
    func beginFragment(length: UInt64, limits: AssemblyLimits) throws(WebSocketProtocolError) {
        if length > Self.deflateBound(limits.frameSize) {
            throw WebSocketProtocolError(
                .frameTooLarge,
                "A compressed frame of \(length) bytes is longer than the \(limits.frameSize) allowed."
            )
        }
        let bound = Self.deflateBound(limits.messageSize)
        if heldDeflated + length > bound {
            throw WebSocketProtocolError(
                .messageTooLarge,
                "A compressed message is longer than the \(limits.messageSize) allowed."
            )
        }
        heldDeflated += length
    }

    /// The most that deflate makes of so many bytes, in small blocks with fixed codes and flushed now and then.
    private static func deflateBound(_ size: ByteCount) -> UInt64 {
        let bytes = UInt64(size.bytes)
        return bytes + bytes / 4 + 1_024
    }

    func endMessage(inflated count: Int) {
        inflater.endMessage()
        isInflating = false
        counts.messagesInflated += 1
        counts.bytesBeforeInflating += Int(clamping: heldDeflated)
        counts.bytesInflated += count
    }

    // MARK: Memory

    /// Gives back what memory isn't needed until the next message, if there was none since this was last called.
    func restIfIdle() {
        let messages = counts.messagesDeflated + counts.messagesInflated
        defer { messagesAtLastLook = messages }
        guard messages == messagesAtLastLook else { return }
        inflater.rest()
        deflater?.rest()
    }
}

/// Inflates the messages of one connection, one after the other (RFC 7692 section 7.2.2).
///
/// What does it is handed in, so that the rules of the session need no library: `DuplexDeflate` has one over ISA-L.
package protocol MessageInflater: AnyObject {
    /// Inflates payload of the message at hand.
    ///
    /// Whatever the input can give is given before more of it is asked for, so that errors show at the same byte in
    /// every split.
    ///
    /// - Parameters:
    ///   - input: the payload, unmasked.
    ///   - position: where to begin; moved behind what was taken.
    ///   - output: the result is appended.
    ///   - room: the most bytes to append, at least 1.
    /// - Returns: how far it came.
    func inflate(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int
    ) -> InflateProgress

    /// Inflates what the sender took off the end of the message: the bytes 00 00 FF FF.
    ///
    /// Called until it doesn't answer ``InflateProgress/outputFull``.
    ///
    /// - Parameters:
    ///   - output: the result is appended.
    ///   - room: the most bytes to append, at least 1.
    /// - Returns: how far it came; ``InflateProgress/corrupt`` as well when the message ends in the middle.
    func inflateEnd(into output: inout [UInt8], upTo room: Int) -> InflateProgress

    /// The message is complete; the next one follows.
    func endMessage()

    /// Nothing has come for a while: gives back what memory isn't needed until something does.
    func rest()

    /// Nothing more will come: gives back all memory.
    func stop()
}

/// How far inflating came.
package enum InflateProgress: Sendable, Hashable {
    /// All of the input is taken, and all that it gives is written.
    case inputTaken
    /// As much was written as was allowed; there may be more.
    case outputFull
    /// The input isn't what a peer may send: not deflate, or with references beyond the window.
    case corrupt
}

/// Deflates the messages of one connection, one after the other (RFC 7692 section 7.2.1).
package protocol MessageDeflater: AnyObject {
    /// Deflates a message, and lends the result for the length of a call.
    ///
    /// - Parameters:
    ///   - payload: the whole message.
    ///   - body: gets what goes into frames, without the bytes 00 00 FF FF at its end.
    /// - Returns: whether the message was deflated. If not, because memory is short, it can be sent as it is.
    func deflate(_ payload: RawSpan, _ body: (RawSpan) -> Void) -> Bool

    /// Deflates the next piece of a message, so that the peer can inflate all of it.
    ///
    /// Between its first piece and its last no other message is deflated.
    ///
    /// - Parameters:
    ///   - piece: the bytes; may be empty.
    ///   - isLast: whether the message ends with it; then the bytes 00 00 FF FF at its end are left out.
    ///   - output: what goes into a frame is appended.
    /// - Returns: whether it was deflated; if not, nothing is appended, and the message has to go as it is.
    func deflate(piece: RawSpan, isLast: Bool, into output: inout [UInt8]) -> Bool

    /// How it deflates a message that refers to no other: that of any deflater of the same form can be sent instead.
    var form: DeflatedForm { get }

    /// Deflates a message that refers to no other, and that may be sent on any connection of that form; it counts as sent
    /// nowhere.
    ///
    /// - Parameters:
    ///   - payload: the whole message.
    ///   - form: ``form``, or the same with a smaller window.
    /// - Returns: what goes into a frame, without the bytes 00 00 FF FF at its end; `nil` when memory is short.
    func deflateAlone(_ payload: RawSpan, _ form: DeflatedForm) -> [UInt8]?

    /// A message was sent that ``deflateAlone(_:_:)`` of any deflater made: later ones may refer to it.
    func follow(_ payload: RawSpan)

    /// Nothing was sent for a while: gives back what memory isn't needed until something is.
    func rest()

    /// Nothing more will be sent: gives back all memory.
    func stop()
}

extension MessageDeflater {
    /// Leaves the message as it is.
    package func deflate(piece: RawSpan, isLast: Bool, into output: inout [UInt8]) -> Bool { false }
}

/// The memory that a message is inflated into, from one message to the next.
///
/// The connections of a loop share it where messages are only lent to who receives them. Without it each message would take
/// memory and give it back between the windows of the connections, which stay, and a third as much as the windows would lie
/// between them unused. Not safe to use from several threads.
package final class InflationBuffer {
    private var spare: [UInt8] = []

    /// The most memory that is kept.
    static let bound = 64 * 1_024

    /// Makes one without memory.
    package init() {}

    /// What is there, empty; it is gone from here then.
    func take() -> [UInt8] {
        let taken = spare
        spare = []
        return taken
    }

    /// Keeps the memory of a message that nobody needs any more, unless it is too much or there is some already.
    package func giveBack(_ message: consuming [UInt8]) {
        guard message.capacity <= Self.bound, message.capacity > spare.capacity else { return }
        message.removeAll(keepingCapacity: true)
        spare = message
    }
}
