// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// Inflates messages piece by piece with zlib, never more at once than it is allowed to (RFC 1951, RFC 7692 section 7.2.2).
///
/// Memory is taken with the first byte: about 7 KiB, and 2 to the power of the window's bits. ``rest()`` gives back all but
/// what is in the window. One inflater serves one connection, and isn't safe to use from several threads.
public final class Inflater: MessageInflater {
    /// The exponent of the window: 8 to 15, for 256 bytes to 32 KiB.
    public let windowBits: Int
    /// Whether messages may refer to those before them (RFC 7692 section 7.1.1).
    public let keepsContext: Bool
    private var stream: ZlibStream?
    /// The window, while there is no stream.
    private var window: [UInt8] = []
    /// Whether something of the message at hand was taken.
    private var isMidMessage = false
    /// Whether the last byte taken ended a block that says to be the last one.
    private var hasEnded = false
    private var endPosition = 0

    /// What a sender takes off the end of each message (RFC 7692 section 7.2.1).
    private static let end: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Makes an inflater without memory; it takes some when there is something to inflate.
    ///
    /// - Parameters:
    ///   - windowBits: the exponent of the window that the sender promised; 15 unless told otherwise, and never outside
    ///     8 to 15. A sender that goes beyond may be found out or not.
    ///   - keepsContext: whether messages may refer to those before them; they may unless told otherwise.
    public init(windowBits: Int = 15, keepsContext: Bool = true) {
        self.windowBits = min(max(windowBits, 8), 15)
        self.keepsContext = keepsContext
    }

    /// Whether zlib's memory is held.
    public var holdsMemory: Bool { stream != nil }

    /// Inflates payload of the message at hand; see `MessageInflater`.
    public func inflate(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int
    ) -> InflateProgress {
        if position == input.byteCount && stream == nil { return .inputTaken }
        guard let stream = ready() else { return .corrupt }
        let limit = output.count + room
        while true {
            if position < input.byteCount {
                isMidMessage = true
                hasEnded = false
            }
            switch stream.run(input, from: &position, into: &output, upTo: limit - output.count) {
            case .inputTaken: return .inputTaken
            case .outputFull: return .outputFull
            case .corrupt: return .corrupt
            case .ended:
                // RFC 7692 section 7.2.3.4: a message may go on behind a last block; its references reach across.
                stream.beginAgain()
                hasEnded = true
                if position == input.byteCount { return .inputTaken }
                if output.count == limit { return .outputFull }
            }
        }
    }

    /// Inflates the four bytes that the sender took off; see `MessageInflater`.
    ///
    /// A message without payload is taken as an empty one, and so is an end right behind a block that says to be the
    /// last: there are senders of both, and nothing is left open.
    public func inflateEnd(into output: inout [UInt8], upTo room: Int) -> InflateProgress {
        if endPosition == 0 && (!isMidMessage || hasEnded) { return .inputTaken }
        let progress = inflate(Self.end.span.raw, from: &endPosition, into: &output, upTo: room)
        if progress == .corrupt || hasEnded { return .corrupt }
        // Between two blocks nothing waits to be given. Asked before zlib is called again, which looks for the next one.
        if endPosition == Self.end.count && stream?.isBetweenBlocks == true { return .inputTaken }
        return progress == .outputFull ? .outputFull : .corrupt
    }

    /// Begins with the next message; without context the window is forgotten.
    public func endMessage() {
        if !keepsContext { stream?.reset() }
        isMidMessage = false
        hasEnded = false
        endPosition = 0
    }

    /// Gives back zlib's memory between two messages, and keeps the window if the next one may refer to it.
    ///
    /// Within a message it does nothing.
    public func rest() {
        guard !isMidMessage, let stream else { return }
        if keepsContext { window = stream.window() }
        self.stream = nil
    }

    /// Gives back all memory; nothing may be inflated behind it.
    public func stop() {
        stream = nil
        window = []
    }

    private func ready() -> ZlibStream? {
        if let stream { return stream }
        let stream = ZlibStream(.inflating(windowBits: windowBits))
        if !window.isEmpty { stream?.setWindow(window) }
        window = []
        self.stream = stream
        return stream
    }
}
