// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
package import DuplexWire

/// Inflates messages piece by piece with ISA-L, never giving more at once than it is allowed to (RFC 1951, RFC 7692 section
/// 7.2.2).
///
/// The engine belongs to the pool. What an inflater has of its own are the last bytes of its messages, 2 to the power of the
/// window's bits at most, while others use the engine; and where it was within a message, at most 22 KiB and 64 KiB that
/// wait to be given. One inflater serves one connection, and isn't safe to use from several threads.
///
/// Of a message that ends within a block, which is corrupt, the last two bytes may not be given: ISA-L looks up several symbols
/// at once, and takes none where the last isn't whole.
///
/// A peer may refer to anything that it may (RFC 7692); whether a reference beyond its window is found out, depends. Codes
/// that are incomplete are taken, which zlib refuses: no compressor makes them.
package final class Inflater: MessageInflater {
    /// The exponent of the window: 8 to 15, for 256 bytes to 32 KiB.
    package let windowBits: Int
    /// Whether messages may refer to those before them (RFC 7692 section 7.1.1).
    package let keepsContext: Bool
    private let pool: DeflatePool
    private var stream: InflateStream?
    /// Whether the engine may have more to give without more input.
    private var mayHaveMore = false
    /// Whether something corrupt lies behind what waits.
    private var hasFailed = false
    /// Whether the last byte taken ended a block that says to be the last one.
    private var hasEnded = false
    private var endPosition = 0

    /// What a sender takes off the end of each message (RFC 7692 section 7.2.1).
    private static let end: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Makes an inflater without memory; it takes some when there is something to inflate.
    ///
    /// - Parameters:
    ///   - windowBits: the exponent of the window that the sender promised, never outside 8 to 15. Default: 15. A sender that
    ///     goes beyond may be found out or not.
    ///   - keepsContext: whether messages may refer to those before them. Default: true.
    ///   - pool: whose engine it uses. Default: one of its own.
    package init(windowBits: Int = 15, keepsContext: Bool = true, pool: DeflatePool = DeflatePool()) {
        self.windowBits = min(max(windowBits, 8), 15)
        self.keepsContext = keepsContext
        self.pool = pool
    }

    deinit {
        if let stream { pool.drop(stream) }
    }

    /// Whether it holds the engine, or what is needed to go on within a message.
    package var holdsMemory: Bool {
        guard let stream else { return false }
        return stream.isMidMessage || pool.holds(stream)
    }

    /// Inflates payload of the message at hand; see `MessageInflater`.
    package func inflate(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int
    ) -> InflateProgress {
        if position == input.byteCount && stream?.isMidMessage != true { return .inputTaken }
        let stream = stream ?? InflateStream(windowBits: windowBits)
        self.stream = stream
        guard let engine = pool.inflating(stream) else { return .corrupt }
        let limit = output.count + room
        while true {
            engine.give(into: &output, upTo: limit - output.count)
            if engine.waiting > 0 { return .outputFull }
            if hasFailed { return .corrupt }
            if position == input.byteCount && !mayHaveMore { return .inputTaken }
            if output.count == limit { return .outputFull }
            advance(engine, input, &position)
        }
    }

    private func advance(_ engine: InflateEngine, _ input: RawSpan, _ position: inout Int) {
        stream?.isMidMessage = true
        hasEnded = false
        switch engine.inflate(input, from: &position) {
        case .inputTaken: mayHaveMore = false
        case .bufferFull: mayHaveMore = true
        case .corrupt: hasFailed = true
        case .ended:
            // RFC 7692 section 7.2.3.4: a message may go on behind a last block; its references reach across.
            engine.beginAgain()
            mayHaveMore = engine.hasBytes
            hasEnded = !mayHaveMore && position == input.byteCount
        }
    }

    /// Inflates the four bytes that the sender took off; see `MessageInflater`.
    ///
    /// A message without payload is taken as an empty one, and so is an end right behind a block that says to be the
    /// last: there are senders of both, and nothing is left open.
    package func inflateEnd(into output: inout [UInt8], upTo room: Int) -> InflateProgress {
        if endPosition == 0 && (stream?.isMidMessage != true || hasEnded) { return .inputTaken }
        let progress = inflate(Self.end.span.raw, from: &endPosition, into: &output, upTo: room)
        guard progress == .inputTaken, let stream, let engine = pool.inflating(stream) else { return progress }
        return !hasEnded && engine.isBetweenBlocks ? .inputTaken : .corrupt
    }

    /// Begins with the next message; without context the window is forgotten.
    package func endMessage() {
        mayHaveMore = false
        hasEnded = false
        endPosition = 0
        guard let stream else { return }
        stream.isMidMessage = false
        if keepsContext { return pool.endMessage(stream) }
        pool.drop(stream)
        self.stream = nil
    }

    /// Leaves the engine between two messages, and keeps the window if the next one may refer to it.
    ///
    /// Within a message it does nothing.
    package func rest() {
        guard let stream, !stream.isMidMessage else { return }
        pool.leave(stream)
    }

    /// Gives back all memory; nothing may be inflated behind it.
    package func stop() {
        if let stream { pool.drop(stream) }
        stream = nil
    }
}
