// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
