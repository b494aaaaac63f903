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
