// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Writes text so that it can stand in a path (RFC 3986 section 3.3).
public enum PercentEncoding {
    /// A segment of a path: all but letters, digits, and `-._~` are encoded.
    ///
    /// - Parameter text: any text, such as a file's name; a slash in it is encoded.
    /// - Returns: the text, each byte of its UTF-8 that may not stand there as `%` and two digits.
    public static func segment(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result += Base16.encode([byte]).uppercased().utf8
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// A path with its query as browsers send it: characters that may not stand there are encoded, and whatever is encoded
    /// already stays (URL Standard, section 1.3).
    ///
    /// - Parameter text: Such as `/käse/?q=a b`.
    /// - Returns: The text in visible ASCII.
    static func target(_ text: some StringProtocol) -> String {
        var result: [UInt8] = []
        var isQuery = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "?") { isQuery = true }
            if Grammar.isVisible(byte) && !(isQuery ? "\"<>" : "\"<>^`{}").utf8.contains(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result += Base16.encode([byte]).uppercased().utf8
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// RFC 3986 section 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return (letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")) || Grammar.isDigit(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }
}
