// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a ``UDPSocket`` sends and receives; each value that is `nil` is left as it is.
public struct DatagramOptions: Sendable, Hashable {
    /// The room for each datagram that is received, 1 to 65,535 bytes; a longer one is cut and marked.
    ///
    /// Default: 65,535, which none exceeds. Less saves nothing but lets more of them come in one system call: those of
    /// one call share 512 KiB.
    public var maximumSize: Int?
    /// How many datagrams are received ahead.
    ///
    /// Default: 0, so that none is.
    ///
    /// Others wait in the system's buffer, of ``SocketOptions/receiveBufferSize``, and are lost when that is full.
    /// Reading ahead helps a receiver that works in bursts.
    public var readAhead: Int?
    /// Whether datagrams may go to a broadcast address (`SO_BROADCAST`).
    ///
    /// Default: no.
    public var allowsBroadcast: Bool?
    /// Over how many routers a datagram to one receiver may go, 1 to 255 (`IP_TTL`, `IPV6_UNICAST_HOPS`).
    ///
    /// 64 on most systems.
    public var hops: Int?
    /// Over how many routers a datagram to a group may go, 0 to 255 (`IP_MULTICAST_TTL`, `IPV6_MULTICAST_HOPS`).
    ///
    /// Default: 1, so that it stays on its link. With 0 it stays on this machine.
    public var multicastHops: Int?
    /// Whether what goes to a group comes to members on this machine, too (`IP_MULTICAST_LOOP`, `IPV6_MULTICAST_LOOP`).
    ///
    /// Default: yes.
    public var multicastLoopback: Bool?
    /// The name of the interface that datagrams to groups go out by (`IP_MULTICAST_IF`, `IPV6_MULTICAST_IF`).
    ///
    /// Default: the system chooses by its routes. It can be set but not read back.
    public var multicastInterface: String?
    /// The options of all sockets; those of TCP are ignored or refused.
    public var socket = SocketOptions()

    /// The durations that are set here.
    package var durations: [DurationSetting] { socket.durations.within("socket") }

    /// Makes a value that sets nothing.
    public init() {}

    // MARK: Setting and asking

    /// Sets what isn't `nil`, and is the system's.
    ///
    /// - Parameters:
    ///   - descriptor: a datagram socket.
    ///   - family: the family that it was made for.
    /// - Throws: ``SocketError`` that names the option that was refused; what was set before stays set.
    func apply(to descriptor: Int32, family: AddressFamily) throws(SocketError) {
        if let allowsBroadcast { try SystemOption.broadcast.set(allowsBroadcast, on: descriptor) }
        if let hops { try SocketOptions.set(.hops4, .hops6, Int32(clamping: hops), on: descriptor, family) }
        if let multicastHops {
            let hops = Int32(clamping: multicastHops)
            try SocketOptions.set(.multicastHops4, .multicastHops6, hops, on: descriptor, family)
        }
        if let multicastLoopback {
            let value: Int32 = multicastLoopback ? 1 : 0
            try SocketOptions.set(.multicastLoopback4, .multicastLoopback6, value, on: descriptor, family)
        }
        if let multicastInterface { try set(multicastInterface: multicastInterface, on: descriptor, family) }
        try socket.apply(to: descriptor, family: family, as: .datagrams)
    }

    private func set(
        multicastInterface name: String,
        on descriptor: Int32,
        _ family: AddressFamily
    ) throws(SocketError) {
        let index = try NetworkInterface.index(of: name)
        let code = DatagramCalls.setMulticastInterface4(descriptor, index)
        if family == .ipv6 {
            // On such a socket the other is of use only to those who talk over IPv4.
            try SystemOption.multicastInterface6.set(Int32(bitPattern: index), on: descriptor)
        } else if code != 0 {
            throw SocketError(.system, message: "IP_MULTICAST_IF was refused, set to “\(name)”.", errno: code)
        }
    }

    /// What the system says of a socket; what isn't the system's is `nil`.
    init(of descriptor: Int32, family: AddressFamily) throws(SocketError) {
        let isIPv6 = family == .ipv6
        let hops: SystemOption = isIPv6 ? .hops6 : .hops4
        let multicastHops: SystemOption = isIPv6 ? .multicastHops6 : .multicastHops4
        let loopback: SystemOption = isIPv6 ? .multicastLoopback6 : .multicastLoopback4
        allowsBroadcast = try SystemOption.broadcast.value(on: descriptor) != 0
        self.hops = Int(try hops.value(on: descriptor))
        self.multicastHops = Int(try multicastHops.value(on: descriptor))
        multicastLoopback = try loopback.value(on: descriptor) != 0
        socket = try SocketOptions(of: descriptor, family: family, as: .datagrams)
    }
}
