// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexTesting
import DuplexWire

/// Deflates a message whole.
func deflated(_ message: [UInt8], by deflater: Deflater) -> [UInt8] {
    var output: [UInt8] = []
    guard deflater.deflate(rawSpan(of: message), into: &output) else { return [] }
    return output
}

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

/// Messages of the kinds that there are: empty, short, repetitive, random, long.
enum Samples {
    static let text = Array(String(repeating: "{\"price\":101.25,\"name\":\"duplex\"},", count: 40).utf8)

    static let random: [UInt8] = {
        var generator = SeededGenerator(seed: 7)
        return (0..<3_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }()

    static let all: [[UInt8]] = [
        [], [0], Array("Hello".utf8), text, random, [UInt8](repeating: 0, count: 10_000), text + random + text,
    ]
}

/// A content in a coding, whole; nothing without memory for it.
func coded(
    _ content: [UInt8],
    _ coding: ContentCoding = .gzip,
    level: Int = 6,
    pool: ContentPool = ContentPool()
) -> [UInt8] {
    pool.deflate(rawSpan(of: content), coding, level: level) ?? []
}
