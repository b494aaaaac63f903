// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The kinds of hashes that take long to try, and that the C libraries have, by what they begin with (crypt(5)).
enum HashKind: String, CaseIterable, Sendable {
    case bcryptA = "$2a$"
    case bcryptB = "$2b$"
    case bcryptY = "$2y$"
    case sha256 = "$5$"
    case sha512 = "$6$"
    case yescrypt = "$y$"

    /// What crypt(3) makes a hash of this kind by in about a millisecond.
    var cheapest: String {
        switch self {
        case .bcryptA, .bcryptB, .bcryptY: rawValue + "04$" + String(repeating: ".", count: 22)
        case .sha256, .sha512: rawValue + "rounds=1000$a"
        case .yescrypt: rawValue + "j75$"
        }
    }

    /// Whether a hash that begins so has all of its parts, in characters that they may have, and nothing after them.
    func isWhole(_ hash: String.UTF8View) -> Bool {
        let rest = hash.dropFirst(rawValue.utf8.count)
        var parts = rest.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
        switch self {
        case .bcryptA, .bcryptB, .bcryptY:
            // A cost of 2^4 to 2^31, and 22 characters of salt before the 31 of the hash.
            let cost = parts[0].allSatisfy(Self.isDigit) ? Int(String(decoding: parts[0], as: UTF8.self)) ?? 0 : 0
            return parts.count == 2 && parts[0].count == 2 && (4...31).contains(cost) && parts[1].count == 53
                && parts[1].allSatisfy(Self.isCharacter)
        case .sha256, .sha512:
            if parts.count == 3, Self.areRounds(parts[0]) { parts.removeFirst() }
            return parts.count == 2 && parts[0].count <= 16 && parts[0].allSatisfy(Self.isSalt)
                && parts[1].count == (self == .sha256 ? 43 : 86) && parts[1].allSatisfy(Self.isCharacter)
        case .yescrypt:
            return parts.count == 3 && !parts[0].isEmpty && parts[2].count == 43
                && parts.allSatisfy { $0.allSatisfy(Self.isCharacter) }
        }
    }

    /// `rounds=1000` to `rounds=999999999`, as crypt(3) writes it.
    private static func areRounds(_ part: Substring.UTF8View.SubSequence) -> Bool {
        let name = "rounds=".utf8
        let digits = part.dropFirst(name.count)
        return part.starts(with: name) && (4...9).contains(digits.count) && digits.allSatisfy(isDigit)
            && digits.first != UInt8(ascii: "0")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Of the alphabet of crypt(3): letters, digits, the point and the slash.
    private static func isCharacter(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
    }

    /// A salt may have other visible characters as well, but for some that files of passwords give a meaning (crypt(5)).
    private static func isSalt(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"$!*:;\\".utf8.contains(byte)
    }
}
