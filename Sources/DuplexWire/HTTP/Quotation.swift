// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Text from a peer, made fit to be shown: controls and anything beyond ASCII escaped, a long text cut.
package enum Quotation {
    /// The most bytes of the text that are shown.
    static let bound = 64

    /// The bytes in quotation marks.
    static func of(_ bytes: Span<UInt8>) -> String {
        var text = "\""
        for index in 0..<min(bytes.count, bound) { append(bytes[index], to: &text) }
        return text + (bytes.count > bound ? "…\"" : "\"")
    }

    /// The text in quotation marks.
    package static func of(_ text: some StringProtocol) -> String {
        // One byte more than is shown: whether there is more, without copying all of a long text.
        of(Array(text.utf8.prefix(bound + 1)).span)
    }

    /// One byte, named so that a message shows which it is.
    static func of(_ byte: UInt8) -> String { "byte 0x" + hexadecimal(byte) }

    private static func append(_ byte: UInt8, to text: inout String) {
        switch byte {
        case 0x22, 0x5C:
            text += "\\"
            text.unicodeScalars.append(Unicode.Scalar(byte))
        case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
        default: text += "\\x" + hexadecimal(byte)
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        Base16.encode([byte]).uppercased()
    }
}
