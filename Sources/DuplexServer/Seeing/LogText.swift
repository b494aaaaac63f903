// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Text of clients in lines of logs.
enum LogText {
    /// The text in visible ASCII, so that nobody begins a line, ends a quotation or steers a terminal.
    ///
    /// Quotes and backslashes get a backslash in front, and all other bytes are written `\xhh`, as Apache does it.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - isWord: whether spaces are written so, too.
    /// - Returns: the text as it may stand in a line.
    static func escaped(_ text: String, isWord: Bool = false) -> String {
        if text.utf8.allSatisfy({ isPlain($0) && !(isWord && $0 == UInt8(ascii: " ")) }) { return text }
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): escaped += "\\" + String(UnicodeScalar(byte))
            case UInt8(ascii: " ") where isWord: escaped += "\\x20"
            case _ where isPlain(byte): escaped.unicodeScalars.append(UnicodeScalar(byte))
            default: escaped += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return escaped
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
