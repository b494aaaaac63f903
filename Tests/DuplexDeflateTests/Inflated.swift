// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

@testable import DuplexDeflate
@testable import DuplexWire

// The fuzz target of messages has this file too, with those of the two that it compares with.

/// What came of inflating a message.
struct Inflated: Equatable, Sendable {
    var bytes: [UInt8] = []
    var progress = InflateProgress.inputTaken
}

/// Inflates a message that comes in pieces, `room` bytes at a time.
func inflated(_ pieces: [[UInt8]], by inflater: any MessageInflater, limit: Int = .max, room: Int = 1_000) -> Inflated {
    var result = Inflated()
    for piece in pieces {
        var position = 0
        repeat {
            let free = min(room, limit - result.bytes.count)
            if free == 0 { return result }
            result.progress = inflater.inflate(rawSpan(of: piece), from: &position, into: &result.bytes, upTo: free)
            if result.progress == .corrupt { return result }
        } while result.progress == .outputFull
    }
    repeat {
        let free = min(room, limit - result.bytes.count)
        if free == 0 { return result }
        result.progress = inflater.inflateEnd(into: &result.bytes, upTo: free)
    } while result.progress == .outputFull
    if result.progress == .inputTaken { inflater.endMessage() }
    return result
}

@_lifetime(borrow bytes)
func rawSpan(of bytes: borrowing [UInt8]) -> RawSpan {
    // Bytes have no padding.
    unsafe bytes.span.bytes
}

extension Inflated {
    /// Compares what ``Inflater`` made of a message with what zlib made of it.
    ///
    /// The verdict and the bytes must be the same, but for what the documentation of ``Inflater`` leaves open.
    ///
    /// - Parameters:
    ///   - zlib: what zlib made of it, with the same window.
    ///   - payload: the message as it came.
    ///   - context: what the messages before it said.
    ///   - windowBits: the exponent of the window.
    /// - Returns: what differs; `nil` if nothing does that may not.
    func difference(from zlib: Inflated, _ payload: [UInt8], context: [UInt8], windowBits: Int = 15) -> String? {
        if zlib == self { return nil }
        // Of what ends within a block the last two bytes may be missing.
        let missing = zlib.bytes.count - bytes.count
        if zlib.progress == .corrupt, progress == .corrupt, 1...2 ~= missing, zlib.bytes.starts(with: bytes) {
            return nil
        }
        let reference = ReferenceInflate.message(payload, window: context)
        let isAsReference = bytes == reference.bytes && (progress == .corrupt) == reference.isCorrupt
        // Codes that are incomplete zlib refuses at their header, and ISA-L takes.
        if zlib.progress == .corrupt, reference.hasIncompleteCode, isAsReference { return nil }
        // A reference beyond the window is found out by either, or by none.
        if reference.farthest > 1 << windowBits {
            if isAsReference || progress == .corrupt && reference.bytes.starts(with: bytes) { return nil }
        }
        return """
            zlib: \(zlib.progress) after \(zlib.bytes.count), ours: \(progress) after \(bytes.count), \
            reference: \(reference.isCorrupt) after \(reference.bytes.count)
            """
    }
}
