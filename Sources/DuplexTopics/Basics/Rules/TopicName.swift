// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// For the normal form, which the standard library has for its own comparisons of texts; Foundation isn't needed for it.
@_spi(_Unicode) import Swift

/// The rules for names of topics and for patterns: segments between slashes, as MQTT has them (MQTT 5.0 section 4.7).
///
/// A pattern has `+` in place of any one segment, and `#` as its last one in place of any number of segments, none among
/// them. Stricter than MQTT: no segment is empty, there are no control characters, and a name is in the normal form of Unicode
/// that composes (NFC). So names are the same text only if they have the same bytes: a rule that forbids `Kitchen` isn't passed by
/// a name that begins with the sign for kelvin. In JavaScript `name.normalize()` gives that form.
package enum TopicName {
    /// What is wrong with a name or a pattern.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// It is empty, or a segment of it is.
        case emptySegment
        /// It is longer than the limit.
        case tooLong
        /// It has more segments than the limit.
        case tooManySegments
        /// It has a control character.
        case controlCharacter
        /// `+` or `#` stands where it may not: in a name, within a segment, or `#` before the end.
        case misplacedWildcard
        /// It isn't in the normal form of Unicode that composes (NFC), so another name would be the same text.
        case notNormalized

        /// One sentence.
        package var description: String {
            switch self {
            case .emptySegment: "A segment of the name is empty."
            case .tooLong: "The name is too long."
            case .tooManySegments: "The name has too many segments."
            case .controlCharacter: "The name has a control character."
            case .misplacedWildcard: "A wildcard stands where none may."
            case .notNormalized: "The name isn't in the normal form of Unicode that composes (NFC)."
            }
        }
    }

    /// The longest name, in bytes of UTF-8.
    package static let longest = 256
    /// The most segments of a name.
    package static let mostSegments = 32

    /// Checks a name or a pattern.
    ///
    /// - Parameter text: the name.
    /// - Returns: whether it is a pattern.
    /// - Throws: ``Fault``.
    package static func check(_ text: String) throws(Fault) -> Bool {
        var checker = Checker()
        // Natively stored text has its bytes at hand.
        var text = text
        text.makeContiguousUTF8()
        let bytes = text.utf8.span
        guard bytes.count <= longest else { throw .tooLong }
        for index in bytes.indices { try checker.take(bytes[index]) }
        try checker.endSegment()
        guard checker.segments <= mostSegments else { throw .tooManySegments }
        if checker.isASCII { return checker.isPattern }
        guard text._nfc.elementsEqual(text.unicodeScalars) else { throw .notNormalized }
        return checker.isPattern
    }

    /// The segments of a name.
    static func segments(_ text: String) -> [Substring] {
        // By bytes, as the check goes: a slash with a mark behind it is one character, and still a slash.
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    private struct Checker {
        var segments = 0
        var isPattern = false
        var isASCII = true
        private var length = 0
        private var hasWildcard = false
        private var isEnded = false

        mutating func take(_ byte: UInt8) throws(Fault) {
            switch byte {
            case UInt8(ascii: "/"): try endSegment()
            case ..<0x20, 0x7F: throw .controlCharacter
            case UInt8(ascii: "+"), UInt8(ascii: "#"):
                guard length == 0, !isEnded else { throw .misplacedWildcard }
                (hasWildcard, isPattern) = (true, true)
                isEnded = byte == UInt8(ascii: "#")
                length += 1
            default:
                guard !hasWildcard, !isEnded else { throw .misplacedWildcard }
                if byte >= 0x80 { isASCII = false }
                length += 1
            }
        }

        mutating func endSegment() throws(Fault) {
            guard length > 0 else { throw isEnded ? .misplacedWildcard : .emptySegment }
            segments += 1
            length = 0
            hasWildcard = false
        }
    }
}
