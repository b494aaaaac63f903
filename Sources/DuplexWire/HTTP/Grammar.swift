// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The characters and the small rules that HTTP's grammar is made of (RFC 9110 section 5.6, RFC 3986 section 2).
package enum Grammar {
    static let tab: UInt8 = 0x09
    package static let lineFeed: UInt8 = 0x0A
    package static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20

    /// Whether the byte is a control character other than the tab.
    static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != tab) || byte == 0x7F }

    /// Whether the byte is a space or a tab.
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// Whether the byte is a visible ASCII character.
    package static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    /// Whether the byte is an ASCII digit.
    package static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    /// Whether the byte is an ASCII letter.
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }

    /// Whether the byte may stand in a token (RFC 9110 section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        if isLetter(byte) || isDigit(byte) { return true }
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            return true
        default:
            return false
        }
    }

    /// Whether the text is a token: not empty, and of token bytes only.
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// The number that the bytes spell in decimal digits alone, or nil if there are none, others, or too many.
    package static func decimal(_ bytes: some Collection<UInt8>) -> Int? {
        if bytes.isEmpty { return nil }
        var value = 0
        for byte in bytes {
            guard isDigit(byte) else { return nil }
            let (tenfold, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tenfold.addingReportingOverflow(Int(byte - 0x30))
            if tooLarge || overflow { return nil }
            value = sum
        }
        return value
    }

    /// The members of a comma-separated list, without the blanks around them; empty members are left out
    /// (RFC 9110 section 5.6.1.2).
    package static func list(_ value: String) -> [Substring] {
        var members: [Substring] = []
        for member in value.utf8.split(separator: UInt8(ascii: ",")) {
            let text = trimmed(Substring(member))
            if !text.isEmpty { members.append(text) }
        }
        return members
    }

    /// The text without the spaces and tabs at its ends.
    package static func trimmed(_ text: Substring) -> Substring {
        var bytes = text.utf8[...]
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return Substring(bytes)
    }

    /// Whether the two are equal but for the case of ASCII letters.
    package static func matches(_ text: some StringProtocol, _ other: some StringProtocol) -> Bool {
        text.utf8.count == other.utf8.count
            && zip(text.utf8, other.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    /// The text with ASCII letters in lower case.
    package static func lowercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map(lowercase), as: UTF8.self)
    }

    /// The byte, in lower case if it's an ASCII letter in upper case.
    static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    /// A string of the span's bytes; what isn't UTF-8 is replaced, which ASCII never is.
    static func string(_ bytes: Span<UInt8>) -> String {
        String(decoding: array(bytes), as: UTF8.self)
    }

    /// A copy of the span's bytes.
    static func array(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        append(bytes, to: &copy)
        return copy
    }

    /// Appends a copy of the span's bytes.
    static func append(_ bytes: Span<UInt8>, to copy: inout [UInt8]) {
        if bytes.isEmpty { return }
        copy.append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}
