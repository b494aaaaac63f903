// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// `host[:port]` as it stands in a Host field, a URI or an Origin (RFC 3986 section 3.2).
package struct Authority: Sendable, Hashable {
    /// The host in lower case; an IPv6 address keeps its brackets and loses its zone.
    package let host: String
    /// The zone of an IPv6 address, such as `eth0` (RFC 6874).
    let zone: String?
    /// The port, or nil where none is written.
    package let port: Int?

    /// Reads an authority without user information, or is nil.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let hostEnd = Self.hostEnd(bytes)
        guard hostEnd > 0, let port = Self.port(bytes[hostEnd...]) else { return nil }
        self.port = port < 0 ? nil : port
        if bytes[0] == UInt8(ascii: "[") {
            guard let (address, zone) = Self.literal(bytes[..<hostEnd]) else { return nil }
            self.host = "[" + address + "]"
            self.zone = zone
        } else {
            guard Self.isRegisteredName(bytes[..<hostEnd]) else { return nil }
            self.host = Grammar.lowercased(String(decoding: bytes[..<hostEnd], as: UTF8.self))
            self.zone = nil
        }
    }

    /// Where the host ends: behind the closing bracket of an IP literal, or else at the first colon.
    private static func hostEnd(_ bytes: [UInt8]) -> Int {
        if bytes.first == UInt8(ascii: "[") {
            return bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? 0
        }
        return bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
    }

    /// The port behind the host; -1 where there is none, which an empty port also means (RFC 3986 section 3.2.3).
    private static func port(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let colon = bytes.first else { return -1 }
        let digits = bytes.dropFirst()
        guard colon == UInt8(ascii: ":") else { return nil }
        if digits.isEmpty { return -1 }
        guard let port = Grammar.decimal(digits), port <= 65_535 else { return nil }
        return port
    }

    /// Whether the bytes are a registered name or an IPv4 address (RFC 3986 section 3.2.2).
    private static func isRegisteredName(_ bytes: ArraySlice<UInt8>) -> Bool {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%") {
                let digits = bytes[(index + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Base16.value(of: $0) != nil }) else {
                    return false
                }
                index += 3
            } else {
                guard isNameByte(bytes[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    /// Whether the byte is unreserved or a sub-delimiter (RFC 3986 sections 2.2 and 2.3).
    ///
    /// The comma is left out although
    /// the grammar has it: no host name does, and two Host fields joined on the way would look like one.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || "!$&'()*+;=".utf8.contains(byte)
    }

    /// Whether the byte may stand in user information (RFC 3986 section 3.2.1).
    static func isUserInfoByte(_ byte: UInt8) -> Bool {
        isNameByte(byte) || "%:,".utf8.contains(byte)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        Grammar.isLetter(byte) || Grammar.isDigit(byte) || "-._~".utf8.contains(byte)
    }

    /// The address and the zone in a bracketed literal.
    private static func literal(_ bytes: ArraySlice<UInt8>) -> (String, String?)? {
        let inside = bytes.dropFirst().dropLast()
        let percent = inside.firstIndex(of: UInt8(ascii: "%"))
        let address = String(decoding: inside[..<(percent ?? inside.endIndex)], as: UTF8.self)
        guard IPv6Grammar.isAddress(address) else { return nil }
        guard let percent else { return (Grammar.lowercased(address), nil) }
        var zone = inside[(percent + 1)...]
        // RFC 6874 section 2 spells the separator `%25`; people paste the bare `%` of RFC 4007 (section 3 allows for
        // it).
        if zone.starts(with: "25".utf8), zone.count > 2 { zone = zone.dropFirst(2) }
        guard !zone.isEmpty, zone.allSatisfy(isUnreserved) else { return nil }
        return (Grammar.lowercased(address), String(decoding: zone, as: UTF8.self))
    }
}

/// The textual form of IPv6 addresses (RFC 4291 section 2.2).
enum IPv6Grammar {
    /// Whether the text is an IPv6 address, without brackets and zone.
    static func isAddress(_ text: String) -> Bool {
        let halves = separated(text)
        switch halves.count {
        case 1: return words(halves[0], mayEndInIPv4: true) == 8
        case 2:
            // The `::` stands for at least one word of zeroes.
            guard let left = words(halves[0], mayEndInIPv4: false),
                let right = words(halves[1], mayEndInIPv4: true)
            else { return false }
            return left + right <= 7
        default: return false
        }
    }

    /// The text cut at its first `::`, if it has one.
    private static func separated(_ text: String) -> [Substring] {
        let bytes = text.utf8
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let next = bytes.index(after: index)
            if next < bytes.endIndex, bytes[index] == UInt8(ascii: ":"), bytes[next] == UInt8(ascii: ":") {
                return [Substring(bytes[..<index]), Substring(bytes[bytes.index(after: next)...])]
            }
            index = next
        }
        return [text[...]]
    }

    /// How many 16-bit words the text spells, or nil if it isn't words separated by single colons.
    private static func words(_ text: Substring, mayEndInIPv4: Bool) -> Int? {
        if text.isEmpty { return 0 }
        var groups = text.split(separator: ":", omittingEmptySubsequences: false)
        var count = 0
        if mayEndInIPv4, let last = groups.last, last.utf8.contains(UInt8(ascii: ".")) {
            guard isIPv4(last) else { return nil }
            groups.removeLast()
            count = 2
        }
        for group in groups {
            guard (1...4).contains(group.utf8.count), group.utf8.allSatisfy({ Base16.value(of: $0) != nil })
            else { return nil }
        }
        return count + groups.count
    }

    /// Whether the text is four numbers of 0 to 255, without leading zeroes.
    private static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard part.utf8.count <= 3, let value = Grammar.decimal(part.utf8) else { return false }
                return value <= 255 && (part.utf8.count == 1 || part.utf8.first != UInt8(ascii: "0"))
            }
    }
}
