// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// The callbacks of a ``DelegatedUDPSocket``, on its queue, one call after the other.
///
/// For code that was written for CocoaAsyncSocket. A class of the main actor conforms there:
/// `@MainActor UDPSocketDelegate`. Each method has a default implementation. The last one is called once, and nothing after
/// it.
public protocol UDPSocketDelegate: AnyObject {
    /// The socket is bound, or connected: its address is known.
    func socketDidOpen(_ socket: DelegatedUDPSocket)

    /// A datagram came; the next one is received once this returns.
    func socket(_ socket: DelegatedUDPSocket, didReceive datagram: Datagram)

    /// The system says that something which was sent before didn't get there; receiving goes on.
    func socket(_ socket: DelegatedUDPSocket, didFailToReceiveWith error: SocketError)

    /// The system has taken a datagram; it may not arrive.
    func socket(_ socket: DelegatedUDPSocket, didSendWithTag tag: Int)

    /// A datagram wasn't sent; the socket lives on.
    func socket(_ socket: DelegatedUDPSocket, didNotSendWithTag tag: Int, error: SocketError)

    /// The system has refused to join or leave a group, or to set options; the socket lives on.
    func socket(_ socket: DelegatedUDPSocket, didNotChangeBecauseOf error: SocketError)

    /// The socket couldn't be opened, or has ended.
    ///
    /// - Parameters:
    ///   - socket: the socket.
    ///   - error: why; `nil` when this side has closed it.
    func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?)
}

extension UDPSocketDelegate {
    /// Does nothing.
    public func socketDidOpen(_ socket: DelegatedUDPSocket) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didReceive datagram: Datagram) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didFailToReceiveWith error: SocketError) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didSendWithTag tag: Int) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didNotSendWithTag tag: Int, error: SocketError) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didNotChangeBecauseOf error: SocketError) {}

    /// Does nothing.
    public func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?) {}
}
