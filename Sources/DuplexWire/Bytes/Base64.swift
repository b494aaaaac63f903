// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Base64 with padding, as the handshake's key and its answer have it (RFC 4648 section 4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The bytes in base64, with padding.
    static func encode(_ bytes: [UInt8]) -> String {
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

    /// The bytes that the text stands for, or nil unless it is what ``encode(_:)`` makes of them.
    ///
    /// No white space, no missing padding, and no stray bits in the last character (RFC 4648 section 3.5).
    static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        var group = 0
        var bits = 0
        for character in characters.dropLast(padding) {
            guard let value = value(character) else { return nil }
            group = (group << 6 | value) & 0xFFFF
            bits += 6
            if bits < 8 { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bits))
        }
        return group & (1 << bits - 1) == 0 ? bytes : nil
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
