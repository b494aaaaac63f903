// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the system says of the addresses that packets of this machine come from; sends nothing.
package enum SourceAddress {
    /// Whether this machine hasn't the address any more.
    ///
    /// - Parameter address: where a connection comes from; its port doesn't matter.
    /// - Returns: `true` only where the system says so.
    package static func isGone(_ address: SocketAddress) -> Bool {
        guard address.path == nil, let descriptor = try? DatagramCalls.socket(address.family) else { return false }
        defer { SystemCalls.close(descriptor) }
        var address = address
        address.port = 0
        do throws(SocketError) {
            try DatagramCalls.bind(descriptor, to: address)
            return false
        } catch {
            return error.errno == EADDRNOTAVAIL
        }
    }

    /// Whether there is an address from which packets to a peer would go.
    ///
    /// - Parameter peer: where to.
    /// - Returns: whether the system has a route, and an address for it.
    package static func exists(to peer: SocketAddress) -> Bool {
        guard peer.path == nil, let descriptor = try? DatagramCalls.socket(peer.family) else { return false }
        defer { SystemCalls.close(descriptor) }
        // Nothing is sent by connecting a datagram socket; the route is looked up.
        return SystemCalls.connect(descriptor, to: peer) == 0
    }
}
