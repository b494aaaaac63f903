// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Answers from a list, and knows no other names.
///
/// For what a hosts file is for, and for tests. In a ``ChainedResolver`` it goes first, with others after it for the
/// names that aren't in the list.
public struct FixedResolver: Resolver {
    private let resolutions: [String: Resolution]

    /// Makes a resolver of addresses.
    ///
    /// Names are compared without regard to upper and lower case and to a dot at the end. Two spellings of one name add
    /// up.
    ///
    /// - Parameter hosts: the addresses of each name, the most preferred first. Their ports don't count.
    public init(_ hosts: [String: [SocketAddress]]) {
        var resolutions: [String: Resolution] = [:]
        // Sorted, so that the order is the same on every run where two spellings add up.
        for (name, addresses) in hosts.sorted(by: { $0.key < $1.key }) {
            for var address in addresses {
                address.port = 0
                resolutions[HostNames.normalized(name), default: Resolution([])].addresses.append(address)
            }
        }
        self.resolutions = resolutions
    }

    /// Makes a resolver of literal addresses.
    ///
    /// - Parameter hosts: the addresses of each name, such as `192.0.2.1` or `2001:db8::1`, the most preferred first.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``.
    public init(literals hosts: [String: [String]]) throws(SocketError) {
        var parsed: [String: [SocketAddress]] = [:]
        for (name, literals) in hosts {
            for literal in literals { parsed[name, default: []].append(try SocketAddress(literal, port: 0)) }
        }
        self.init(parsed)
    }

    /// The addresses from the list.
    ///
    /// - Parameter host: a name.
    /// - Returns: the addresses, without a time to live.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unknownHost`` for a name that isn't in the list.
    public func resolve(_ host: String) async throws -> Resolution {
        guard let resolution = resolutions[HostNames.normalized(host)] else {
            throw HostNames.unknown(host, "it isn't among the fixed ones")
        }
        return resolution
    }
}
