// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The IP addresses that begin with the same bits (CIDR, RFC 4632 and RFC 4291 section 2.3).
///
/// Whatever port and zone an address has, it belongs to the network or doesn't. An IPv4 address in the form of an IPv6
/// one (`::ffff:192.0.2.1`) counts as the IPv4 address that it is.
public struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    /// The bits that all addresses begin with, in whole bytes, filled up with zeros: 4 of IPv4, 16 of IPv6.
    private let bytes: [UInt8]
    /// How many bits all addresses begin with: 0 to 32, or to 128 for IPv6.
    package let prefixLength: Int

    /// Whether this is a network of IPv6 addresses.
    package var isIPv6: Bool { bytes.count == 16 }

    /// This machine, as it sees itself: `127.0.0.0/8` and `::1/128`.
    public static let loopback = [
        IPNetwork(bytes: [127, 0, 0, 0], prefixLength: 8),
        IPNetwork(bytes: [UInt8](repeating: 0, count: 15) + [1], prefixLength: 128),
    ]

    private init(bytes: [UInt8], prefixLength: Int) {
        self.bytes = bytes
        self.prefixLength = prefixLength
    }

    /// Reads a network: `10.0.0.0/8`, `2001:db8::/32`; an address alone is a network of one.
    ///
    /// - Parameter text: the network. After its prefix there are only zeros: `10.1.2.3/8` is taken for a mistake, since
    ///   it may well mean fewer addresses than it says.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``.
    public init(_ text: String) throws(SocketError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard !text.contains("%"), let address = try? SocketAddress(String(parts[0]), port: 0) else {
            throw Self.invalid(text, "it doesn't begin with an IP address")
        }
        var bytes = address.bytes
        var length = bytes.count * 8
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
                let given = Int(parts[1]), given <= length
            else { throw Self.invalid(text, "the number of bits goes from 0 to \(length)") }
            length = given
        }
        if let inner = Self.unmapped(bytes), length >= 96 {
            bytes = inner
            length -= 96
        }
        guard bytes == Self.masked(bytes, length) else {
            throw Self.invalid(text, "its address has bits behind the first \(length)")
        }
        self.init(bytes: bytes, prefixLength: length)
    }

    /// Whether an address belongs to the network; that of a Unix socket belongs to none.
    public func contains(_ address: SocketAddress) -> Bool {
        let given = address.bytes
        let compared = Self.unmapped(given) ?? given
        return compared.count == bytes.count && Self.masked(compared, prefixLength) == bytes
    }

    /// The network as it is read, such as `10.0.0.0/8`.
    public var description: String {
        "\(SocketAddress(ip: bytes, port: 0).host)/\(prefixLength)"
    }

    /// The IPv4 address inside an IPv6 one (RFC 4291 section 2.5.5.2).
    private static func unmapped(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 16, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 255, bytes[11] == 255 else {
            return nil
        }
        return Array(bytes[12...])
    }

    private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, length - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
    }

    private static func invalid(_ text: String, _ reason: String) -> SocketError {
        SocketError(.invalidAddress, message: "“\(text)” is not a network such as 10.0.0.0/8: \(reason).")
    }
}
