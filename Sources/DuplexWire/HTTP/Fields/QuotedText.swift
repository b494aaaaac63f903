// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Texts as quoted strings (RFC 9110 section 5.6.4).
package enum QuotedText {
    /// The text in quotation marks, with a backslash before each mark and each backslash in it.
    package static func of(_ text: String) -> String {
        var bytes = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
