// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension UDPSocket {
    /// Whether others may bind the same address and port; all of them need this option.
    @nonexhaustive
    public enum Sharing: Sendable, Hashable {
        /// The port is this socket's alone.
        case none
        /// Several receive what is sent to a group or a broadcast address, each of them all of it (`SO_REUSEADDR`).
        ///
        /// > Warning: What is sent to one address comes to one of them only. Any process can take part on Linux. With port 0
        /// > the system may choose a port that others, who share theirs too, have already.
        case address
        /// Several divide what is sent to one address among them, by sender (`SO_REUSEPORT`).
        ///
        /// On Linux only processes of one user can do so.
        case port
    }
}

/// Makes the descriptor of a datagram socket, bound or connected.
struct DatagramBinding {
    var host: LocalHost
    var port: Int
    var families: AddressFamilies
    var sharing: UDPSocket.Sharing
    var options: DatagramOptions

    /// A descriptor and the family that it was made for.
    struct Bound {
        var descriptor: Int32
        var family: AddressFamily
    }

    /// Binds a new socket.
    ///
    /// - Throws: ``SocketError``; nothing stays open.
    /// - Returns: the descriptor.
    func bind() throws(SocketError) -> Bound {
        // On a machine without IPv6 any address is one of IPv4.
        if host == .any, families == .all {
            do {
                return try bind(try SocketAddress("::", port: port))
            } catch {
                guard error.errno == EAFNOSUPPORT || error.errno == EADDRNOTAVAIL else { throw error }
                return try bind(try SocketAddress("0.0.0.0", port: port))
            }
        }
        return try bind(try address(nil))
    }

    /// Connects a new socket, bound first where that is asked for.
    ///
    /// - Parameter peer: the only one that datagrams come from and go to.
    /// - Throws: ``SocketError``; nothing stays open.
    /// - Returns: the descriptor.
    func connect(to peer: SocketAddress) throws(SocketError) -> Bound {
        guard peer.path == nil, families.allows(peer) else {
            throw SocketError(.invalidAddress, message: "\(peer) is not of a family that the socket is to talk to.")
        }
        let isBound = host != .any || port != 0
        let local = isBound ? try address(peer.family) : nil
        let bound = try open(peer.family)
        do throws(SocketError) {
            if let local { try DatagramCalls.bind(bound.descriptor, to: local) }
            let code = SystemCalls.connect(bound.descriptor, to: peer)
            if code != 0 { throw SocketError(.cannotConnect, message: "\(peer) can't be reached.", errno: code) }
            return bound
        } catch {
            SystemCalls.close(bound.descriptor)
            throw error
        }
    }

    private func bind(_ address: SocketAddress) throws(SocketError) -> Bound {
        let bound = try open(address.family)
        do throws(SocketError) {
            try DatagramCalls.bind(bound.descriptor, to: address)
            return bound
        } catch {
            SystemCalls.close(bound.descriptor)
            throw error
        }
    }

    /// The address to bind; of the needed family, where one is needed.
    private func address(_ needed: AddressFamily?) throws(SocketError) -> SocketAddress {
        let prefersIPv6 = needed.map { $0 == .ipv6 } ?? !families.contains(.ipv4)
        let address: SocketAddress?
        switch host {
        case .any: address = try SocketAddress(prefersIPv6 ? "::" : "0.0.0.0", port: port)
        case .loopback: address = try SocketAddress(prefersIPv6 ? "::1" : "127.0.0.1", port: port)
        case .address(let literal): address = try SocketAddress(literal, port: port)
        case .interface(let name):
            let all = try NetworkInterface.addresses(of: name)
            let first = all.first { needed == nil ? families.allows($0) : $0.family == needed }
            address = try first.map { first throws(SocketError) in try first.withPort(port) }
        }
        guard let address, needed == nil ? families.allows(address) : address.family == needed else {
            throw SocketError(.invalidAddress, message: "\(host) has no address of the family that is needed.")
        }
        return address
    }

    /// A new socket with everything set that must be before it is bound.
    private func open(_ family: AddressFamily) throws(SocketError) -> Bound {
        let descriptor = try DatagramCalls.socket(family)
        do throws(SocketError) {
            if family == .ipv6 { try SystemOption.ipv6Only.set(families != .all, on: descriptor) }
            switch sharing {
            case .none: break
            case .address: try SystemOption.reusedAddress.set(true, on: descriptor)
            case .port: try SystemOption.reusedPort.set(true, on: descriptor)
            }
            try Self.setBasics(descriptor, family)
            try options.apply(to: descriptor, family: family)
            return Bound(descriptor: descriptor, family: family)
        } catch {
            SystemCalls.close(descriptor)
            throw error
        }
    }

    /// Has the system say where datagrams were sent to, and give only those of groups that this very socket has joined.
    ///
    /// Linux would else hand over what any other process has joined on the same port.
    private static func setBasics(_ descriptor: Int32, _ family: AddressFamily) throws(SocketError) {
        try SocketOptions.set(.packetInfo4, .packetInfo6, 1, on: descriptor, family)
        // Where there is no such option, there is no such habit, or no way around it.
        try? SystemOption.allGroups4.set(false, on: descriptor)
        if family == .ipv6 { try? SystemOption.allGroups6.set(false, on: descriptor) }
    }
}

extension SocketAddress {
    /// The same address with another port, which must be one.
    fileprivate func withPort(_ port: Int) throws(SocketError) -> SocketAddress {
        var address = self
        address.port = try SocketAddress("0.0.0.0", port: port).port
        return address
    }
}
