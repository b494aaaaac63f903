// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The families of IP addresses that a socket talks to.
public struct AddressFamilies: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Makes a set of its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// IPv4.
    public static let ipv4 = AddressFamilies(rawValue: 1)
    /// IPv6; a ``UDPSocket`` that has no other talks to IPv6 alone (`IPV6_V6ONLY`).
    public static let ipv6 = AddressFamilies(rawValue: 2)
    /// Both; a ``UDPSocket`` on ``LocalHost/any`` is bound to both, if the machine has both.
    public static let all: AddressFamilies = [.ipv4, .ipv6]

    /// What it is, for people.
    public var description: String {
        switch (contains(.ipv4), contains(.ipv6)) {
        case (true, true): "IPv4 and IPv6"
        case (true, false): "IPv4"
        case (false, true): "IPv6"
        case (false, false): "no family"
        }
    }

    /// Whether an address may be used; one of a Unix socket always may.
    func allows(_ address: SocketAddress) -> Bool {
        address.path != nil || contains(address.isIPv6 ? .ipv6 : .ipv4)
    }
}
