// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension RawSpan {
    /// Where the byte next stands, from an offset on; nil where it doesn't.
    package func firstOffset(of wanted: UInt8, from start: Int) -> Int? {
        var index = start
        let pattern = UInt64(wanted) &* 0x0101_0101_0101_0101
        while index + 8 <= byteCount {
            // A byte that is wanted becomes 0. The lowest bit that is set then is its own; those above may be wrong.
            let word = littleEndianWord(at: index) ^ pattern
            let found = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if found != 0 { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < byteCount {
            if byte(at: index) == wanted { return index }
            index += 1
        }
        return nil
    }

    /// The place of the first byte that isn't a space or visible ASCII, or is a quote or a backslash, from an offset on, or the
    /// end.
    package func endOfPlainText(from start: Int) -> Int {
        var index = start
        while index + 8 <= byteCount {
            let word = littleEndianWord(at: index)
            // The lowest bit that is set is that of the first such byte; those above may be wrong.
            let low = (word &- 0x2020_2020_2020_2020) & ~word
            let found = low | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F) | zeros(word ^ 0x2222_2222_2222_2222)
            let all = (found | zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C) | word) & 0x8080_8080_8080_8080
            if all != 0 { return index + all.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < byteCount {
            let byte = byte(at: index)
            if byte < 0x20 || byte > 0x7E || byte == 0x22 || byte == 0x5C { return index }
            index += 1
        }
        return index
    }

    /// Has the highest bit of the first byte that is 0.
    private func zeros(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word }

    /// Whether both have the same bytes.
    func hasSameBytes(as other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        var index = 0
        while index + 32 <= byteCount {
            var difference = littleEndianWord(at: index) ^ other.littleEndianWord(at: index)
            difference |= littleEndianWord(at: index + 8) ^ other.littleEndianWord(at: index + 8)
            difference |= littleEndianWord(at: index + 16) ^ other.littleEndianWord(at: index + 16)
            difference |= littleEndianWord(at: index + 24) ^ other.littleEndianWord(at: index + 24)
            if difference != 0 { return false }
            index += 32
        }
        while index + 8 < byteCount {
            if littleEndianWord(at: index) != other.littleEndianWord(at: index) { return false }
            index += 8
        }
        return lastWord == other.lastWord
    }

    /// A number that is another one wherever the last eight bytes of spans of one length differ, or all where there are fewer.
    var lastWord: UInt64 {
        if byteCount >= 8 { return littleEndianWord(at: byteCount - 8) }
        if byteCount >= 4 { return UInt64(key(at: 0)) | UInt64(key(at: byteCount - 4)) << 32 }
        if byteCount == 0 { return 0 }
        let (first, middle) = (UInt64(byte(at: 0)), UInt64(byte(at: byteCount / 2)))
        return first | middle << 8 | UInt64(byte(at: byteCount - 1)) << 16
    }
}
