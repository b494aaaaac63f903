// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Reads percent-encoded text (RFC 3986 section 2.1) strictly.
///
/// What isn't well formed is refused rather than passed on as it stands: a path that one reader decodes and another
/// doesn't names two different things.
package enum PercentDecoding {
    /// The text with each `%` and its two hexadecimal digits replaced by the byte that they stand for.
    ///
    /// - Parameters:
    ///   - text: The encoded text.
    ///   - plusIsSpace: Whether `+` stands for a space, as in forms and queries. Default: not so.
    /// - Returns: The decoded text, or nil if two hexadecimal digits don't follow a `%`, if a NUL comes out, or if the
    ///   bytes aren't UTF-8.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        decode(bytes: text.utf8, plusIsSpace: plusIsSpace)
    }

    /// The segments of an absolute path, each decoded by itself.
    ///
    /// The path is cut before it's decoded, so an encoded slash stays within its segment. A segment may therefore hold
    /// `/`, and may be `..` or empty: whoever makes a file's name of it has to check.
    ///
    /// - Parameter path: The path as it was sent, such as ``RequestHead/path``.
    /// - Returns: The segments after the first slash, one of them empty for `/`; nil if the path doesn't begin with a
    ///   slash or a segment can't be decoded.
    package static func segments(ofPath path: some StringProtocol) -> [String]? {
        segments(of: Substring(path))
    }

    private static func segments(of path: Substring) -> [String]? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for part in rawSegments(of: path) {
            guard let segment = segment(part) else { return nil }
            segments.append(segment)
        }
        return segments
    }

    private static func segment(_ part: Substring) -> String? {
        // Most hold nothing that is encoded.
        if !part.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0 }) { return String(part) }
        return decode(bytes: part.utf8, plusIsSpace: false)
    }

    /// The segments of an absolute path as they stand there; one of them empty for `/`.
    ///
    /// Cut at bytes: a slash with a combining character behind it is a slash all the same.
    package static func rawSegments(ofPath path: some StringProtocol) -> [Substring] {
        rawSegments(of: Substring(path))
    }

    private static func rawSegments(of path: Substring) -> [Substring] {
        let bytes = path.utf8.dropFirst()
        var segments: [Substring] = []
        var start = bytes.startIndex
        while let slash = bytes[start...].firstIndex(of: UInt8(ascii: "/")) {
            segments.append(Substring(bytes[start..<slash]))
            start = bytes.index(after: slash)
        }
        segments.append(Substring(bytes[start...]))
        return segments
    }

    /// The same for text that is at hand in bytes.
    static func decode(bytes text: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
        guard let bytes = bytes(text, plusIsSpace: plusIsSpace), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The bytes that the text stands for; nil if two hexadecimal digits don't follow a `%`.
    static func bytes(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(Base16.value),
                    let low = iterator.next().flatMap(Base16.value)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(Grammar.space)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}

/// Writes text so that it can stand in a path (RFC 3986 section 3.3).
package enum PercentEncoding {
    /// A segment of a path: all but letters, digits, and `-._~` are encoded.
    ///
    /// - Parameter text: any text, such as a file's name; a slash in it is encoded.
    /// - Returns: the text, each byte of its UTF-8 that may not stand there as `%` and two digits.
    package static func segment(_ text: String) -> String {
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
