// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Base64 (RFC 4648 section 4): written with padding, read also without.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The bytes in base64, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            append(bytes[start..<min(start + 3, bytes.count)], to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the four characters of three bytes or fewer.
    private static func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        var group = 0
        for byte in bytes { group = group << 8 | Int(byte) }
        group <<= 8 * (3 - bytes.count)
        for place in 0..<4 {
            let isPadding = place > bytes.count
            text.append(isPadding ? UInt8(ascii: "=") : alphabet[group >> (18 - 6 * place) & 0x3F])
        }
    }

    /// Decodes a text; nil if it stands for no bytes.
    ///
    /// Padding is there as a whole or not at all, and the bits after the last byte may be any: other programs leave
    /// the one out and don't clear the others (RFC 4648 sections 3.2 and 3.5). No white space, and no other characters.
    ///
    /// Hazard: several texts stand for the same bytes. Compare the bytes, never the texts.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let digits = characters.dropLast(padding)
        guard digits.count % 4 != 1, padding == 0 || characters.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var group = 0
        var bits = 0
        for character in digits {
            guard let value = value(character) else { return nil }
            group = (group << 6 | value) & 0xFFFF
            bits += 6
            if bits < 8 { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bits))
        }
        return bytes
    }

    private static func value(_ character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
