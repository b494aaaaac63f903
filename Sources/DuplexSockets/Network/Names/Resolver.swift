// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Looks host names up: the system, fixed answers, a cache, a name server asked directly, or several of them in turn.
public protocol Resolver: Sendable {
    /// Looks a host name up.
    ///
    /// Cancelling gives up at once; what can't be interrupted is left behind and its answer dropped. A resolver sets no
    /// deadline of its own on behalf of a connection: whoever connects has one for the names.
    ///
    /// - Parameter host: a name. Literal addresses don't get here.
    /// - Returns: at least one address, the most preferred first, with port 0.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unknownHost`` when the name has no address, which may be
    ///   remembered; with another code, as a rule ``SocketError/Code/nameServiceFailed``, when that could not be found out.
    ///   `CancellationError`.
    func resolve(_ host: String) async throws -> Resolution

    /// Called when a connection was made to an address that it returned.
    ///
    /// Default: does nothing.
    ///
    /// Called on the event loop of the connection, and so must not block.
    ///
    /// - Parameters:
    ///   - host: the name.
    ///   - address: the address that the connection was made to, with its port.
    func connected(_ host: String, to address: SocketAddress)
}

extension Resolver {
    /// Does nothing.
    public func connected(_ host: String, to address: SocketAddress) {}
}

/// The addresses of a host name.
public struct Resolution: Sendable, Hashable {
    /// The addresses, the most preferred first, with port 0.
    public var addresses: [SocketAddress]
    /// How long the answer may be kept; `nil` when the source doesn't say.
    public var timeToLive: Duration?
    /// Which of the addresses a connection was last made to; it is tried before all others, whatever family is preferred.
    ///
    /// `nil` when that isn't known.
    package var proven: SocketAddress?

    /// Makes a value.
    public init(_ addresses: [SocketAddress], timeToLive: Duration? = nil) {
        self.addresses = addresses
        self.timeToLive = timeToLive
    }
}

/// Answers from a list, and knows no other names.
///
/// For what a hosts file is for, and for tests. In a ``ChainedResolver`` it goes first, with others after it for the
/// names that aren't in the list.
public struct StaticResolver: Resolver {
    private let resolutions: [String: Resolution]

    /// Makes a resolver of addresses.
    ///
    /// Names are compared without regard to upper and lower case and to a dot at the end. Two spellings of one name add
    /// up.
    ///
    /// - Parameter hosts: the addresses of each name, the most preferred first. Their ports don't count.
    package init(_ hosts: [String: [SocketAddress]]) {
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
