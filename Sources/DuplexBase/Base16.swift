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

/// Bytes that may not be text, such as names of files, as text.
package enum EscapedBytes {
    /// The text that the bytes are in UTF-8; of other bytes a text with `%` and two digits for each byte that isn't UTF-8.
    ///
    /// A `%` is escaped, too, in such a text. So different bytes that aren't UTF-8 never become the same text; only a text that
    /// looks escaped may be the same.
    package static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var position = 0
        while position < bytes.count {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                position += encoded.count
                let scalar = Unicode.UTF8.decode(encoded)
                if scalar == "%" { text.append(contentsOf: escape(0x25)) } else { text.append(scalar) }
            case .error(let length):
                for byte in bytes[position..<min(bytes.count, position + max(length, 1))] {
                    text.append(contentsOf: escape(byte))
                }
                position += max(length, 1)
            case .emptyInput: return String(text)
            }
        }
        return String(text)
    }

    private static func escape(_ byte: UInt8) -> String.UnicodeScalarView {
        ("%" + Base16.encode([byte]).uppercased()).unicodeScalars
    }
}

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
