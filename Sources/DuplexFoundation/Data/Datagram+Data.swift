// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Datagram {
    /// Makes a datagram to send, of a copy of the bytes.
    ///
    /// - Parameters:
    ///   - data: what it carries.
    ///   - peer: where it goes; `nil` on a connected socket.
    ///   - localAddress: the address of this machine that it comes from; `nil` for the system to choose.
    ///   - interface: the number of the interface that it goes over; 0 for the system to choose.
    public init(
        _ data: Data,
        to peer: SocketAddress? = nil,
        from localAddress: SocketAddress? = nil,
        interface: UInt32 = 0
    ) {
        self.init([UInt8](data), to: peer, from: localAddress, interface: interface)
    }

    /// A copy of its bytes.
    public var data: Data { Data(bytes) }

    /// An answer to a received datagram; as `reply(_:)` with an array.
    ///
    /// - Parameter data: what the answer carries.
    /// - Returns: the answer, to be sent by the socket that received.
    public func reply(_ data: Data) -> Datagram { reply([UInt8](data)) }
}
