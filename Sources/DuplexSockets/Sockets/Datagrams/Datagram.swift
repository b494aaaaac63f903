// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One datagram: its bytes, and who is at either end.
public struct Datagram: Sendable, Hashable {
    /// Its bytes; they may be empty.
    public var bytes: [UInt8]
    /// Who sent it, or where it goes; `nil` for where a connected socket is connected to.
    public var peer: SocketAddress?
    /// The address of this machine that it was sent to, which may be that of a group; or that it is to come from.
    ///
    /// For sending, with `nil` the system chooses by its routes. The port is always the socket's.
    public var localAddress: SocketAddress?
    /// The number of the interface that it came over or is to go over; 0 when unknown, or for the system to choose.
    public var interface: UInt32
    /// Whether a received datagram was longer than the socket accepts, and was cut.
    public internal(set) var isTruncated = false
    /// The address that an answer comes from; for a group not that of the group.
    var answerAddress: SocketAddress?

    /// Makes a datagram to send.
    ///
    /// - Parameters:
    ///   - bytes: what it carries.
    ///   - peer: where it goes; `nil` on a connected socket.
    ///   - localAddress: the address of this machine that it comes from; `nil` for the system to choose.
    ///   - interface: the number of the interface that it goes over; 0 for the system to choose.
    public init(
        _ bytes: [UInt8],
        to peer: SocketAddress? = nil,
        from localAddress: SocketAddress? = nil,
        interface: UInt32 = 0
    ) {
        self.bytes = bytes
        self.peer = peer
        self.localAddress = localAddress
        self.interface = interface
    }

    /// An answer to a received datagram: it goes to its sender, and comes from the address that it was sent to.
    ///
    /// A machine with several addresses could otherwise answer from another one, and the peer might not accept that.
    ///
    /// - Parameter bytes: what the answer carries.
    /// - Returns: the answer, to be sent by the socket that received.
    public func reply(_ bytes: some Collection<UInt8>) -> Datagram {
        var answer = Datagram([UInt8](bytes), to: peer)
        answer.answerAddress = sourceAddress
        return answer
    }

    /// Its bytes as text; `nil` when it isn't UTF-8.
    public var text: String? {
        String(validating: bytes, as: UTF8.self)
    }

    /// The name of the interface, such as `eth0`; `nil` when it is unknown or gone.
    package var interfaceName: String? {
        interface == 0 ? nil : NetworkInterface.name(of: interface)
    }

    /// The address that it is sent from; none comes from a group.
    var sourceAddress: SocketAddress? {
        if let answerAddress { return answerAddress }
        return localAddress?.isMulticast == true ? nil : localAddress
    }
}
