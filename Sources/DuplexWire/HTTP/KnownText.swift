// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A short text of ASCII that is looked for in input, compared eight bytes at a time.
struct KnownText: Sendable {
    let count: Int
    private let words: [3 of UInt64]
    /// Which bits of the last word, or of the only one, are the text's.
    private let lastMask: UInt64

    /// Makes a text of up to 24 bytes.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(bytes.count <= 24, "A known text has up to 24 bytes.")
        count = bytes.count
        words = [Self.word(bytes, 0), Self.word(bytes, 8), Self.word(bytes, 16)]
        let rest = count == 0 ? 0 : (count - 1) % 8 + 1
        lastMask = rest == 8 ? .max : (1 << (8 * UInt64(rest))) - 1
    }

    private static func word(_ bytes: [UInt8], _ start: Int) -> UInt64 {
        var word: UInt64 = 0
        for (index, byte) in bytes.dropFirst(start).prefix(8).enumerated() {
            word |= UInt64(byte) << (8 * UInt64(index))
        }
        return word
    }

    /// Whether the text stands at that place.
    @inline(__always)
    func isAt(_ start: Int, of input: RawSpan) -> Bool { compare(input, start, 0) }

    /// Whether the text stands at that place in either case; the text is in lower case, and the input has no controls there.
    ///
    /// Letters of either case, digits and hyphens become what the text has by the bit that parts the cases, and nothing
    /// else but controls does.
    @inline(__always)
    func isAnyCaseAt(_ start: Int, of input: RawSpan) -> Bool { compare(input, start, 0x2020_2020_2020_2020) }

    @inline(__always)
    private func compare(_ input: RawSpan, _ start: Int, _ fold: UInt64) -> Bool {
        guard start + count <= input.byteCount else { return false }
        var offset = 0
        while offset + 8 < count {
            if input.littleEndianWord(at: start + offset) | fold != words[offset / 8] { return false }
            offset += 8
        }
        let last = input.word(at: start + offset, count: count - offset)
        return ((last | fold) ^ words[min(offset / 8, 2)]) & lastMask == 0
    }
}

extension RawSpan {
    /// The bytes from that place on, the first one lowest; at least so many of them, which are there.
    @inline(__always)
    fileprivate func word(at start: Int, count: Int) -> UInt64 {
        if start + 8 <= byteCount { return littleEndianWord(at: start) }
        var word: UInt64 = 0
        for index in 0..<count { word |= UInt64(byte(at: start + index)) << (8 * UInt64(index)) }
        return word
    }
}
