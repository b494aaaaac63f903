// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// permessage-deflate on one connection: what was agreed on, and what deflates and inflates (RFC 7692 section 7).
///
/// Belongs to one ``Session``, as which it isn't safe to use from several threads.
public final class MessageCompression {
    /// What was agreed on in the handshake.
    public let agreement: DeflateAgreement
    /// Messages shorter than that are sent as they are.
    public let threshold: Int
    /// What was deflated and inflated so far.
    public internal(set) var counts = Counts()

    /// The bit of a frame that says that its message is compressed (RFC 7692 section 6).
    static let reservedBit: UInt8 = 0x40

    let inflater: any MessageInflater
    /// Without one, everything is sent as it is, which a sender always may (section 6.1).
    let deflater: (any MessageDeflater)?
    /// What messages are inflated into, where they are given back; `nil` where each has memory of its own.
    public let buffer: InflationBuffer?
    /// Whether the message that is arriving is compressed.
    var isInflating = false
    /// The payload of that message so far, as it came.
    private var heldDeflated: UInt64 = 0
    private var messagesAtLastLook = 0

    /// How many messages were compressed, and what they took.
    public struct Counts: Sendable, Hashable {
        /// Compressed messages that were sent.
        public var messagesDeflated = 0
        /// The bytes that they have.
        public var bytesBeforeDeflating = 0
        /// The bytes that they took in frames.
        public var bytesDeflated = 0
        /// Compressed messages that arrived whole.
        public var messagesInflated = 0
        /// The bytes that they took in frames.
        public var bytesBeforeInflating = 0
        /// The bytes that they have.
        public var bytesInflated = 0

        /// Nothing yet.
        public init() {}
    }

    /// Puts together what a connection needs.
    ///
    /// - Parameters:
    ///   - agreement: what was agreed on in the handshake.
    ///   - threshold: messages shorter than that many bytes are sent as they are. Default: 0, so that all are
    ///     compressed.
    ///   - inflater: for what the peer sends, with the window that the agreement gives it.
    ///   - deflater: for what this side sends; `nil` if it compresses nothing.
    ///   - buffer: what messages are inflated into, for who gives them back. Default: none, so that each has memory of its own.
    public init(
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
    func beginFragment(length: UInt64, limits: AssemblyLimits) throws(ProtocolError) {
        if length > Self.deflateBound(limits.frameSize) {
            throw ProtocolError(
                .frameTooLarge,
                "A compressed frame of \(length) bytes is longer than the \(limits.frameSize) allowed."
            )
        }
        let bound = Self.deflateBound(limits.messageSize)
        if heldDeflated + length > bound {
            throw ProtocolError(
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
