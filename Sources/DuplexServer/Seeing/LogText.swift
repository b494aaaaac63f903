// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

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
        var bytes: [UInt8] = []
        append(text.utf8.span.raw, to: &bytes)
        if isWord {
            let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            bytes = Array(words.joined(separator: #"\x20"#.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends text in UTF-8 as ``escaped(_:isWord:)`` writes it, with spaces.
    static func append(_ text: RawSpan, to line: inout [UInt8]) {
        var start = 0
        while true {
            let end = text.endOfPlainText(from: start)
            line.append(text.extracting(start..<end))
            if end == text.byteCount { return }
            append(special: text.withOctets { $0[end] }, to: &line)
            start = end + 1
        }
    }

    private static func append(special byte: UInt8, to line: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            line.append(UInt8(ascii: "\\"))
            line.append(byte)
        default: line.append(utf8: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16))
        }
    }
}
