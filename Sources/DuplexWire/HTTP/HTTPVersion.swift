// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A version of HTTP, such as HTTP/1.1 (RFC 9112 section 2.3).
package struct HTTPVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number before the dot, 0 to 9.
    package let major: Int
    /// The number after the dot, 0 to 9.
    package let minor: Int

    /// Makes a version; each number is brought into 0...9, the one digit that the grammar has room for.
    package init(major: Int, minor: Int) {
        self.major = min(max(major, 0), 9)
        self.minor = min(max(minor, 0), 9)
    }

    /// HTTP/1.0 (RFC 1945).
    package static let http10 = HTTPVersion(major: 1, minor: 0)
    /// HTTP/1.1 (RFC 9112).
    package static let http11 = HTTPVersion(major: 1, minor: 1)

    /// The version as it is written in a start line.
    package var description: String { "HTTP/\(major).\(minor)" }

    /// Whether the version on the left came before the one on the right.
    package static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// Reads `HTTP/digit.digit`, in capitals and with nothing else, or is nil.
    init?(_ bytes: Span<UInt8>) {
        let pattern: [8 of UInt8] = [0x48, 0x54, 0x54, 0x50, 0x2F, 0, 0x2E, 0]  // "HTTP/", a digit, ".", a digit
        guard bytes.count == pattern.count else { return nil }
        for index in 0..<8 where pattern[index] != 0 && pattern[index] != bytes[index] { return nil }
        guard Grammar.isDigit(bytes[5]), Grammar.isDigit(bytes[7]) else { return nil }
        self.init(major: Int(bytes[5] - 0x30), minor: Int(bytes[7] - 0x30))
    }
}
