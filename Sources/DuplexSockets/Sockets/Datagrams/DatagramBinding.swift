// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension UDPSocket {
    /// The address of this machine that a socket is bound to.
    public struct Host: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        enum Kind: Sendable, Hashable {
            case any
            case loopback
            case address(String)
            case interface(String)
        }

        let kind: Kind

        /// All addresses of this machine.
        ///
        /// The only one that receives what is sent to groups and broadcast addresses on every system.
        public static let any = Host(kind: .any)
        /// This machine only: 127.0.0.1, or ::1 with ``Families/ipv6``.
        public static let loopback = Host(kind: .loopback)

        /// One address of this machine, as a literal.
        public static func address(_ literal: String) -> Host {
            Host(kind: .address(literal))
        }

        /// The first address of an interface: of IPv4 if it has one, or of the family that ``Families`` names.
        ///
        /// For what goes to groups and broadcast addresses use ``any``, and name the interface when joining, or bind to the
        /// interface itself by ``SocketOptions/boundDevice``.
        ///
        /// - Parameter name: such as `eth0`.
        /// - Returns: the host.
        public static func interface(_ name: String) -> Host {
            Host(kind: .interface(name))
        }

        private init(kind: Kind) {
            self.kind = kind
        }

        /// `localhost` is ``loopback``, `*` is ``any``, anything else is taken as a literal address.
        public init(stringLiteral value: String) {
            switch value {
            case "localhost": self = .loopback
            case "*", "": self = .any
            default: self = .address(value)
            }
        }

        /// What it is, for people.
        public var description: String {
            switch kind {
            case .any: "*"
            case .loopback: "localhost"
            case .address(let literal): literal
            case .interface(let name): name
            }
        }
    }

    /// The families of addresses that a socket talks to.
    public struct Families: Sendable, Hashable, CustomStringConvertible {
        let hasIPv4: Bool
        let hasIPv6: Bool

        /// IPv4 only.
        public static let ipv4 = Families(hasIPv4: true, hasIPv6: false)
        /// IPv6 only (`IPV6_V6ONLY`).
        public static let ipv6 = Families(hasIPv4: false, hasIPv6: true)
        /// Whichever the address is of; ``Host/any`` is bound to both, where the machine has both.
        public static let both = Families(hasIPv4: true, hasIPv6: true)

        /// What they are, for people.
        public var description: String {
            self == .both ? "IPv4 and IPv6" : hasIPv4 ? "IPv4" : "IPv6"
        }

        func contains(_ family: AddressFamily) -> Bool {
            family == .ipv4 ? hasIPv4 : family == .ipv6 && hasIPv6
        }
    }

    /// Whether others may bind the same address and port; all of them need this option.
    public struct Sharing: Sendable, Hashable {
        let option: Option

        enum Option: Sendable, Hashable {
            case none
            case address
            case port
        }

        /// The port is this socket's alone.
        public static let none = Sharing(option: .none)
        /// Several receive what is sent to a group or a broadcast address, each of them all of it (`SO_REUSEADDR`).
        ///
        /// > Warning: What is sent to one address comes to one of them only. Any process can take part on Linux. With port 0
        /// > the system may choose a port that others, who share theirs too, have already.
        public static let address = Sharing(option: .address)
        /// Several divide what is sent to one address among them, by sender (`SO_REUSEPORT`).
        ///
        /// On Linux only processes of one user can do so.
        public static let port = Sharing(option: .port)
    }
}

/// Makes the descriptor of a datagram socket, bound or connected.
struct DatagramBinding {
    var host: UDPSocket.Host
    var port: Int
    var families: UDPSocket.Families
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
        if host.kind == .any, families == .both {
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
        guard families.contains(peer.family) else {
            throw SocketError(.invalidAddress, message: "\(peer) is not of a family that the socket is to talk to.")
        }
        let isBound = host.kind != .any || port != 0
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
        let prefersIPv6 = needed.map { $0 == .ipv6 } ?? !families.hasIPv4
        let address: SocketAddress?
        switch host.kind {
        case .any: address = try SocketAddress(prefersIPv6 ? "::" : "0.0.0.0", port: port)
        case .loopback: address = try SocketAddress(prefersIPv6 ? "::1" : "127.0.0.1", port: port)
        case .address(let literal): address = try SocketAddress(literal, port: port)
        case .interface(let name):
            let all = try NetworkInterface.addresses(of: name)
            let first = all.first { needed == nil ? families.contains($0.family) : $0.family == needed }
            address = try first.map { first throws(SocketError) in try first.withPort(port) }
        }
        guard let address, needed == nil ? families.contains(address.family) : address.family == needed else {
            throw SocketError(.invalidAddress, message: "\(host) has no address of the family that is needed.")
        }
        return address
    }

    /// A new socket with everything set that must be before it is bound.
    private func open(_ family: AddressFamily) throws(SocketError) -> Bound {
        let descriptor = try DatagramCalls.socket(family)
        do throws(SocketError) {
            if family == .ipv6 { try SystemOption.ipv6Only.set(families != .both, on: descriptor) }
            switch sharing.option {
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
