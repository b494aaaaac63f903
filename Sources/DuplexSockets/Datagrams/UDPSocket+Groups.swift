// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension UDPSocket {
    /// Joins a multicast group: what is sent to it, on the port of this socket, is received from here on.
    ///
    /// The socket has to be bound to ``Host/any``, or to the address of the group. An interface leaves its groups when the
    /// socket closes. A datagram that came to a group has its address as ``Datagram/localAddress``.
    ///
    /// - Parameters:
    ///   - group: the address of the group, such as `239.1.2.3` or `ff15::1234`.
    ///   - source: the only sender to receive from (source-specific, RFC 4607); called again with another, that one,
    ///     too. Default: every sender.
    ///   - interface: the name of the interface to join on. Default: the one that the system's routes name.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``, or with ``SocketError/Code/system`` when the system
    ///   refuses: it is a member already, is in too many groups, or has no route that names an interface.
    public func join(_ group: String, from source: String? = nil, on interface: String? = nil) throws(SocketError) {
        try setMembership(true, group, source, interface)
    }

    /// Leaves a multicast group; the arguments have to be those of ``join(_:from:on:)``.
    ///
    /// - Parameters:
    ///   - group: the address of the group.
    ///   - source: the sender that was joined.
    ///   - interface: the name of the interface that was joined on.
    /// - Throws: as ``join(_:from:on:)``, also when the socket isn't a member.
    public func leave(_ group: String, from source: String? = nil, on interface: String? = nil) throws(SocketError) {
        try setMembership(false, group, source, interface)
    }

    private func setMembership(
        _ joins: Bool,
        _ group: String,
        _ source: String?,
        _ interface: String?
    ) throws(SocketError) {
        let address = try SocketAddress(group, port: 0)
        guard address.isMulticast else {
            throw SocketError(.invalidAddress, message: "\(group) is not the address of a multicast group.")
        }
        if address.isIPv6 && channel.value.family != .ipv6 {
            throw SocketError(.invalidAddress, message: "\(group): the socket is one for IPv4.")
        }
        let sender = try source.map { source throws(SocketError) in try SocketAddress(source, port: 0) }
        if let sender, sender.family != address.family {
            throw SocketError(.invalidAddress, message: "\(group) and \(sender.host) are not of one family.")
        }
        var index = address.scope
        if let interface { index = try NetworkInterface.index(of: interface) }
        let code = DatagramCalls.setMembership(
            try openDescriptor(),
            joins: joins,
            group: address,
            source: sender,
            interface: index
        )
        if code == 0 { return }
        let place = interface.map { " on \($0)" } ?? ""
        let what = joins ? "joined" : "left"
        throw SocketError(.system, message: "The group \(group) could not be \(what)\(place).", errno: code)
    }
}
