// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension RawSpan {
    /// Whether both have the same bytes.
    func hasSameBytes(as other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        var index = 0
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
