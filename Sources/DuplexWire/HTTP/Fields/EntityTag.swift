// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Tells one state of a content from another (RFC 9110 section 8.8.3).
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// What stands between the quotation marks.
    public let text: String
    /// Whether contents with the same tag may differ in bytes, and are only worth the same.
    package let isWeak: Bool

    /// Makes a tag.
    ///
    /// It is nil if the text has a quotation mark, a blank or a control character in it.
    ///
    /// - Parameters:
    ///   - text: What stands between the quotation marks.
    ///   - isWeak: Whether contents with the same tag may differ in bytes. Default: false.
    public init?(_ text: String, isWeak: Bool = false) {
        guard text.utf8.allSatisfy(Self.isTagByte) else { return nil }
        self.text = text
        self.isWeak = isWeak
    }

    /// Reads the value of a field ETag; nil for what is no tag.
    package init?(field value: String) {
        var scanner = FieldScanner(value)
        scanner.skipBlanks()
        guard let tag = Self.tag(&scanner) else { return nil }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { return nil }
        self = tag
    }

    /// The tag as it is sent, such as `W/"1"`.
    public var description: String { (isWeak ? "W/\"" : "\"") + text + "\"" }

    /// Whether both stand for the same bytes: neither is weak (RFC 9110 section 8.8.3.2).
    package func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && weaklyMatches(other)
    }

    /// Whether both stand for contents that are worth the same.
    package func weaklyMatches(_ other: EntityTag) -> Bool {
        // Byte by byte: texts that look the same may be others.
        text.utf8.elementsEqual(other.text.utf8)
    }

    private static func isTagByte(_ byte: UInt8) -> Bool {
        byte == 0x21 || (byte >= 0x23 && byte != 0x7F)
    }

    /// A tag, whose text is taken as it stands: a backslash is one of its characters.
    package static func tag(_ scanner: inout FieldScanner) -> EntityTag? {
        let begin = scanner.position
        let isWeak = scanner.skip("W")
        guard !isWeak || scanner.skip("/"), scanner.skip("\"") else {
            scanner.position = begin
            return nil
        }
        let start = scanner.position
        while !scanner.isAtEnd, isTagByte(scanner.bytes[scanner.position]) { scanner.position += 1 }
        let text = String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
        guard scanner.skip("\"") else { return nil }
        return EntityTag(text, isWeak: isWeak)
    }
}

/// The tags of a condition: `*`, or a list (RFC 9110 section 13.1.1).
enum EntityTagList: Sendable, Hashable {
    case any
    case tags([EntityTag])

    /// The most tags that are read; a list with more is malformed.
    static let bound = 256

    /// Reads the values of all fields of one name; nil if they are malformed.
    init?(_ values: [String]) {
        if values.count == 1, Grammar.trimmed(Substring(values[0])) == "*" {
            self = .any
            return
        }
        var tags: [EntityTag] = []
        for value in values {
            var scanner = FieldScanner(value)
            scanner.skipCommas()
            while !scanner.isAtEnd {
                guard tags.count < Self.bound, let tag = EntityTag.tag(&scanner) else { return nil }
                tags.append(tag)
                scanner.skipBlanks()
                guard scanner.isAtEnd || scanner.isAt(",") else { return nil }
                scanner.skipCommas()
            }
        }
        self = .tags(tags)
    }
}
