// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Texts beyond ASCII as values of parameters: charset, language and percent-encoded bytes (RFC 8187 section 3.2.1).
enum ExtendedText {
    /// The text in UTF-8, without a language.
    static func encode(_ text: String) -> String {
        var value = "UTF-8''"
        for byte in text.utf8 {
            if isPlain(byte) {
                value.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                value += "%" + Base16.encode([byte]).uppercased()
            }
        }
        return value
    }

    /// What the value stands for; nil if it is malformed, or in another charset than UTF-8 and ISO-8859-1.
    static func decode(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        switch Grammar.lowercased(Substring(parts[0])) {
        case "utf-8": return PercentDecoding.decode(Substring(parts[2]))
        case "iso-8859-1":
            return PercentDecoding.bytes(parts[2])?.reduce(into: "") { text, byte in
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        default: return nil
        }
    }

    /// Letters, digits and a few marks stand for themselves.
    private static func isPlain(_ byte: UInt8) -> Bool {
        Grammar.isLetter(byte) || Grammar.isDigit(byte) || "!#$&+-.^_`|~".utf8.contains(byte)
    }
}
