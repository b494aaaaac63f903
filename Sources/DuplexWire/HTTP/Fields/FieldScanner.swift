// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Steps through the value of a field: tokens, quoted strings and what stands between them (RFC 9110 section 5.6).
///
/// No byte is looked at more than a few times, whatever the value is.
package struct FieldScanner {
    package let bytes: [UInt8]
    package var position = 0

    package init(_ value: some StringProtocol) {
        bytes = Array(value.utf8)
    }

    package var isAtEnd: Bool { position == bytes.count }

    /// Whether a space or a tab is next.
    var isAtBlank: Bool { position < bytes.count && Grammar.isBlank(bytes[position]) }

    package func isAt(_ character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    /// Steps over the character, if it is next.
    ///
    /// - Returns: Whether it was.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard isAt(character) else { return false }
        position += 1
        return true
    }

    package mutating func skipBlanks() {
        while isAtBlank { position += 1 }
    }

    /// Steps over commas and blanks: empty members of a list are passed over (RFC 9110 section 5.6.1.2).
    mutating func skipCommas() {
        while isAtBlank || isAt(",") { position += 1 }
    }

    /// A token (RFC 9110 section 5.6.2); nil where none begins.
    package mutating func token() -> String? {
        let start = position
        while position < bytes.count, Grammar.isTokenByte(bytes[position]) { position += 1 }
        return start < position ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// What a quoted string stands for, without its marks and backslashes (RFC 9110 section 5.6.4); nil where none
    /// begins, and for one that doesn't end.
    mutating func quotedString() -> String? {
        guard skip("\"") else { return nil }
        var text: [UInt8] = []
        while position < bytes.count {
            if skip("\"") { return String(decoding: text, as: UTF8.self) }
            if skip("\\"), isAtEnd { return nil }
            text.append(bytes[position])
            position += 1
        }
        return nil
    }

    /// A token, or what a quoted string stands for.
    mutating func word() -> String? {
        isAt("\"") ? quotedString() : token()
    }

    /// A parameter: a name in lower case, `=`, and a word; blanks may stand around the sign, as some write them.
    mutating func parameter() -> FieldParameter? {
        guard let name = token() else { return nil }
        skipBlanks()
        guard skip("=") else { return nil }
        skipBlanks()
        guard let value = word() else { return nil }
        return FieldParameter(name: Grammar.lowercased(name), value: value)
    }

    /// Parameters, each behind a `;` (RFC 9110 section 5.6.6); empty ones are passed over.
    ///
    /// - Parameter bound: The most there may be.
    /// - Returns: The parameters, and the position is behind them; nil if one is malformed, or if there are too many.
    mutating func parameters(atMost bound: Int) -> [FieldParameter]? {
        var parameters: [FieldParameter] = []
        skipBlanks()
        while skip(";") {
            skipBlanks()
            if isAtEnd || isAt(";") || isAt(",") { continue }
            guard parameters.count < bound, let parameter = parameter() else { return nil }
            parameters.append(parameter)
            skipBlanks()
        }
        return parameters
    }

    /// Steps to the next comma that isn't within a quoted string, or to the end.
    mutating func skipMember() {
        while !isAtEnd, !isAt(",") {
            if isAt("\"") {
                // One that doesn't end reaches to the end of the value.
                if quotedString() == nil { position = bytes.count }
            } else {
                position += 1
            }
        }
    }
}

/// A name and a value after a field's main value, such as `charset=utf-8` (RFC 9110 section 5.6.6).
package struct FieldParameter: Sendable, Hashable {
    /// The name in lower case.
    package let name: String
    /// The value without quotation marks and backslashes.
    package let value: String

    /// Makes a parameter.
    ///
    /// - Parameters:
    ///   - name: The name, in any case of letters.
    ///   - value: The value as it is meant.
    package init(name: String, value: String) {
        self.name = Grammar.lowercased(name)
        self.value = value
    }
}

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
