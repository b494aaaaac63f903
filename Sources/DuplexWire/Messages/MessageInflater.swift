// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Inflates the messages of one connection, one after the other (RFC 7692 section 7.2.2).
///
/// What does it is handed in, so that the rules of the session need no library: `DuplexDeflate` has one over ISA-L.
public protocol MessageInflater: AnyObject {
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
public enum InflateProgress: Sendable, Hashable {
    /// All of the input is taken, and all that it gives is written.
    case inputTaken
    /// As much was written as was allowed; there may be more.
    case outputFull
    /// The input isn't what a peer may send: not deflate, or with references beyond the window.
    case corrupt
}

/// Deflates the messages of one connection, one after the other (RFC 7692 section 7.2.1).
public protocol MessageDeflater: AnyObject {
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
    public func deflate(piece: RawSpan, isLast: Bool, into output: inout [UInt8]) -> Bool { false }
}
