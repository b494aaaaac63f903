// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The local end that the attempts of one connection are bound to.
struct LocalBinding {
    /// The addresses to choose from; `nil` leaves the choice to the system.
    private let addresses: [SocketAddress]?
    private let port: Int
    /// What was asked for, for people.
    private let place: String

    /// Finds out what to bind to; `nil` when the system may choose everything.
    ///
    /// - Parameter options: of the connection.
    /// - Throws: ``SocketError`` when there is no such interface, or the address can't be read.
    init?(_ options: ConnectOptions) throws(SocketError) {
        port = options.localPort
        switch options.localAddress {
        case .loopback:
            addresses = [try SocketAddress("127.0.0.1", port: port), try SocketAddress("::1", port: port)]
            place = "localhost"
        case .address(let literal):
            addresses = [try SocketAddress(literal, port: port)]
            place = literal
        case .interface(let name):
            addresses = try NetworkInterface.addresses(of: name, port: port)
            place = "interface \(name)"
        case .any, nil:
            if port == 0 { return nil }
            addresses = nil
            place = "port \(port)"
        }
    }

    /// Binds a socket that is to be connected to `destination`.
    func bind(_ descriptor: Int32, for destination: SocketAddress) throws(SocketError) {
        if destination.path != nil { return }
        let local = try source(for: destination)
        allow(descriptor)
        let code = unsafe local.withSystemAddress { pointer, length -> Int32 in
            #if canImport(Glibc)
            let result = SystemCall.bind.make(on: descriptor) { unsafe Glibc.bind(descriptor, pointer, length) }
            #else
            let result = SystemCall.bind.make(on: descriptor) { unsafe Darwin.bind(descriptor, pointer, length) }
            #endif
            return result == 0 ? 0 : errno
        }
        guard code == 0 else {
            let message = "\(destination) can't be connected to from \(local)."
            throw SocketError(.cannotBind, message: message, errno: code)
        }
    }

    /// The local address that suits a destination.
    func source(for destination: SocketAddress) throws(SocketError) -> SocketAddress {
        guard let addresses else {
            return try SocketAddress(destination.isIPv6 ? "::" : "0.0.0.0", port: port)
        }
        let family = addresses.filter { $0.isIPv6 == destination.isIPv6 }
        // A link-local address can't be answered from another link, and a global one has no way to a link-local peer.
        let suitable = family.first { $0.isLinkLocal == destination.isLinkLocal } ?? family.first
        guard var local = suitable else {
            let kind = destination.isIPv6 ? "IPv6" : "IPv4"
            let message = "\(destination) can't be connected to from \(place), which has no \(kind) address."
            throw SocketError(.cannotBind, message: message, errno: EADDRNOTAVAIL)
        }
        local.port = port
        return local
    }

    private func allow(_ descriptor: Int32) {
        if port != 0 {
            // The attempts at several addresses come from the same port, and so may a connection after one that has ended.
            _ = SystemCalls.setOption(descriptor, level: SOL_SOCKET, name: SO_REUSEADDR, 1)
        } else {
            #if os(Linux)
            // The port is chosen when the peer is known, so that it may serve another peer, too (ip(7)).
            _ = SystemCalls.setOption(descriptor, level: Int32(IPPROTO_IP), name: IP_BIND_ADDRESS_NO_PORT, 1)
            #endif
        }
    }
}

extension SocketAddress {
    /// Whether the address has a meaning on one link only (fe80::/10, RFC 4291 section 2.5.6; 169.254.0.0/16, RFC 3927).
    var isLinkLocal: Bool {
        let bytes = bytes
        guard bytes.count >= 2 else { return false }
        return isIPv6 ? bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 : bytes[0] == 169 && bytes[1] == 254
    }
}

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
