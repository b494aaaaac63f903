// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Base16 in lower case (RFC 4648 section 8).
package enum Base16 {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The bytes, two digits each.
    ///
    /// - Parameters:
    ///   - bytes: any bytes.
    ///   - separator: what stands between two of them. Default: nothing.
    /// - Returns: the text.
    package static func encode(_ bytes: some Collection<UInt8>, separator: String = "") -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * (2 + separator.utf8.count))
        for (index, byte) in bytes.enumerated() {
            if index > 0 { text += separator.utf8 }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that the text stands for, in either case; `nil` for what isn't pairs of digits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var half: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let high = half {
                bytes.append(high << 4 | value)
                half = nil
            } else {
                half = value
            }
        }
        return half == nil ? bytes : nil
    }

    /// The value of a digit in either case; `nil` for another byte.
    @inlinable
    package static func value(of digit: UInt8) -> UInt8? {
        if digit >= 0x30 && digit <= 0x39 { return digit - 0x30 }
        let lowercase = digit | 0x20
        return lowercase >= 0x61 && lowercase <= 0x66 ? lowercase - 0x61 + 10 : nil
    }
}
