// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension RawSpan {
    /// Where the byte next stands, from an offset on; nil where it doesn't.
    func firstOffset(of wanted: UInt8, from start: Int) -> Int? {
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
}
