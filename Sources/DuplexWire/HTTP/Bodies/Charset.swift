// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How text was made bytes, by its name in a media type (RFC 9110 section 8.3.2): those that are still met.
package enum Charset: String, Sendable, Hashable, CaseIterable {
    /// UTF-8; a byte order mark in front is left out.
    case utf8 = "utf-8"
    /// Seven bits.
    case ascii = "us-ascii"
    /// One byte for each of the first 256 characters of Unicode.
    case latin1 = "iso-8859-1"
    /// The same, with letters and punctuation in place of half of the control characters.
    case windows1252 = "windows-1252"
    /// Two bytes for each unit: in the order that a byte order mark says, and else with the higher byte first (RFC 2781
    /// section 4.3).
    case utf16 = "utf-16"
    /// Two bytes for each unit, the higher one first.
    case utf16BigEndian = "utf-16be"
    /// Two bytes for each unit, the lower one first.
    case utf16LittleEndian = "utf-16le"

    /// The charset of that name, in any case of letters.
    ///
    /// It is nil for one that isn't known.
    package init?(name: String) {
        switch Grammar.lowercased(name) {
        case "utf8": self = .utf8
        case "ascii", "ansi_x3.4-1968", "iso646-us": self = .ascii
        case "iso8859-1", "iso_8859-1", "latin1", "l1": self = .latin1
        case "cp1252", "x-cp1252": self = .windows1252
        case let name: self.init(rawValue: name)
        }
    }

    /// The charset that a media type names; UTF-8 where it names none.
    ///
    /// - Parameter type: the type of a body; nil where that isn't said.
    /// - Throws: ``HTTPProtocolError`` with 415 for a charset that isn't known.
    package init(of type: MediaType?) throws(HTTPProtocolError) {
        guard let name = type?.charset else {
            self = .utf8
            return
        }
        guard let charset = Charset(name: name) else {
            throw HTTPProtocolError(
                .unsupportedMediaType,
                "text in the charset \(Quotation.of(name)) isn't taken; UTF-8 is"
            )
        }
        self = charset
    }

    /// The text that bytes stand for.
    ///
    /// - Parameter bytes: the whole text.
    /// - Returns: the text.
    /// - Throws: ``HTTPProtocolError`` with 400 for bytes that stand for none.
    package func decode(_ bytes: [UInt8]) throws(HTTPProtocolError) -> String {
        guard let text = text(bytes) else {
            throw HTTPProtocolError(.malformedBody, "the text isn't in \(rawValue), as it is said to be")
        }
        return text
    }

    private func text(_ bytes: [UInt8]) -> String? {
        switch self {
        case .utf8:
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return String(validating: bytes.starts(with: mark) ? bytes[3...] : bytes[...], as: UTF8.self)
        case .ascii: return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case .latin1: return Self.text(bytes) { Unicode.Scalar($0) }
        case .windows1252: return Self.text(bytes, Self.windowsScalar)
        case .utf16:
            if bytes.starts(with: [0xFF, 0xFE]) { return Self.units(bytes[2...], isBigEndian: false) }
            return Self.units(bytes.starts(with: [0xFE, 0xFF]) ? bytes[2...] : bytes[...], isBigEndian: true)
        case .utf16BigEndian: return Self.units(bytes[...], isBigEndian: true)
        case .utf16LittleEndian: return Self.units(bytes[...], isBigEndian: false)
        }
    }

    private static func text(_ bytes: [UInt8], _ scalar: (UInt8) -> Unicode.Scalar) -> String {
        var text = String.UnicodeScalarView()
        text.reserveCapacity(bytes.count)
        for byte in bytes { text.append(scalar(byte)) }
        return String(text)
    }

    private static func units(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        return String(validating: units, as: UTF16.self)
    }

    /// What stands at 0x80 to 0x9F; five places have nothing, and are the control characters that they always were.
    private static let windowsScalars: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}",
        "\u{2C6}", "\u{2030}", "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}",
        "\u{90}", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}",
        "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}", "\u{153}", "\u{9D}", "\u{17E}", "\u{178}",
    ]

    private static func windowsScalar(_ byte: UInt8) -> Unicode.Scalar {
        (0x80...0x9F).contains(byte) ? windowsScalars[Int(byte) - 0x80] : Unicode.Scalar(byte)
    }
}
