// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where a connection comes from: an address of this machine, or the network interface that has it.
public struct LocalAddress: Sendable, Hashable, CustomStringConvertible {
    /// What kind it is.
    enum Kind: Sendable, Hashable {
        case address(String)
        case interface(String)
    }

    let kind: Kind

    /// One address of this machine.
    ///
    /// Only peers of the same family can be connected to from it.
    ///
    /// - Parameter literal: the address, such as `192.0.2.1` or `fe80::1%eth0`.
    /// - Returns: the place.
    public static func address(_ literal: String) -> LocalAddress {
        LocalAddress(kind: .address(literal))
    }

    /// A network interface.
    ///
    /// The connection comes from the first address that the interface has of the peer's family: a link-local one for a peer
    /// whose address is link-local, another one otherwise. This settles the address and not the way: where the
    /// system's routes lead elsewhere, the packets take those.
    ///
    /// - Parameter name: the interface, such as `eth0`.
    /// - Returns: the place.
    public static func interface(_ name: String) -> LocalAddress {
        LocalAddress(kind: .interface(name))
    }

    /// What it is, for people.
    public var description: String {
        switch kind {
        case .address(let literal): literal
        case .interface(let name): "interface \(name)"
        }
    }
}
