// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The mark that some editors, those of Windows above all, write at the beginning of text in UTF-8 (Unicode Standard,
/// section 23.8).
package enum ByteOrderMark {
    /// The mark: U+FEFF in UTF-8.
    package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the bytes without a mark at their beginning.
    package static func removed(from bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.starts(with: Self.bytes) ? bytes.dropFirst(Self.bytes.count) : bytes[...]
    }
}
