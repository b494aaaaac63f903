// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Checks UTF-8 as it arrives, in any split, and fails at the first byte that can't belong to a valid text (RFC 3629).
public struct UTF8Validator: Sendable, Hashable {
    /// How many continuation bytes the character that has begun still needs.
    private var needed: UInt8 = 0
    /// What the next continuation byte must lie between: not always 0x80 to 0xBF, since no character may be written
    /// longer than needed, be a surrogate, or lie beyond U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// A validator at the beginning of a text.
    public init() {}

    /// Whether the text may end here: no character has been begun and not finished.
    public var isComplete: Bool { needed == 0 }

    /// Takes the next bytes.
    ///
    /// - Returns: whether they can belong to a valid text. After false, the validator is of no more use.
    public mutating func validate(_ bytes: RawSpan) -> Bool {
        var index = 0
        while index < bytes.byteCount {
            if needed == 0 {
                index += bytes.asciiPrefix(from: index)
                if index == bytes.byteCount { return true }
                guard begin(bytes.byte(at: index)) else { return false }
            } else {
                guard next(bytes.byte(at: index)) else { return false }
            }
            index += 1
        }
        return true
    }

    /// Takes the first byte of a character of several bytes (RFC 3629 section 4).
    private mutating func begin(_ byte: UInt8) -> Bool {
        lowest = 0x80
        highest = 0xBF
        switch byte {
        case 0xC2...0xDF: needed = 1
        case 0xE0...0xEF:
            needed = 2
            if byte == 0xE0 { lowest = 0xA0 }
            if byte == 0xED { highest = 0x9F }
        case 0xF0...0xF4:
            needed = 3
            if byte == 0xF0 { lowest = 0x90 }
            if byte == 0xF4 { highest = 0x8F }
        default: return false
        }
        return true
    }

    private mutating func next(_ byte: UInt8) -> Bool {
        guard byte >= lowest && byte <= highest else { return false }
        needed -= 1
        lowest = 0x80
        highest = 0xBF
        return true
    }
}
