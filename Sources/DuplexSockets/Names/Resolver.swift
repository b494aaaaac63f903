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
    public var proven: SocketAddress?

    /// Makes a value.
    public init(_ addresses: [SocketAddress], timeToLive: Duration? = nil) {
        self.addresses = addresses
        self.timeToLive = timeToLive
    }
}
