// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

@testable import DuplexDeflate
@testable import DuplexWire

/// Inflates messages with zlib: the peer that ``Inflater`` is held to.
final class ZlibInflater: MessageInflater {
    private let stream: ZlibStream
    private var isMidMessage = false
    private var hasEnded = false
    private var endPosition = 0

    private static let end: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    init?(windowBits: Int = 15) {
        guard let stream = ZlibStream(.inflating(windowBits: windowBits)) else { return nil }
        self.stream = stream
    }

    func inflate(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int
    ) -> InflateProgress {
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
                stream.beginAgain()
                hasEnded = true
                if position == input.byteCount { return .inputTaken }
                if output.count == limit { return .outputFull }
            }
        }
    }

    func inflateEnd(into output: inout [UInt8], upTo room: Int) -> InflateProgress {
        if endPosition == 0 && (!isMidMessage || hasEnded) { return .inputTaken }
        let progress = inflate(rawSpan(of: Self.end), from: &endPosition, into: &output, upTo: room)
        if progress == .corrupt || hasEnded { return .corrupt }
        if endPosition == Self.end.count && stream.isBetweenBlocks { return .inputTaken }
        return progress == .outputFull ? .outputFull : .corrupt
    }

    func endMessage() {
        // The next message begins with a whole byte; zlib would go on with the bits that are left.
        stream.beginAgain()
        isMidMessage = false
        hasEnded = false
        endPosition = 0
    }

    /// Forgets all, as one that has just been made.
    func reset() {
        stream.reset()
        isMidMessage = false
        hasEnded = false
        endPosition = 0
    }

    func rest() {}
    func stop() {}
}
