// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// What a ``DelegatedWebSocket`` tells, on the queue that it was given, one call after the other.
///
/// For code that comes over from SocketRocket. Each method has an implementation that does nothing. Exactly one of the last
/// two is called, once, and nothing after it.
public protocol WebSocketDelegate: AnyObject, Sendable {
    /// The handshake is done: messages may be sent.
    func webSocketDidOpen(_ socket: DelegatedWebSocket)

    /// A message came; the next one is received once this returns, so that a slow delegate slows the peer down.
    func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message)

    /// The pong for a ``DelegatedWebSocket/ping()`` came, that long after it.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration)

    /// Both sides have closed the connection in order, with whatever codes.
    func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport)

    /// The connection couldn't be made, was lost, or broke the protocol or a limit.
    func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError)
}

extension WebSocketDelegate {
    /// Does nothing.
    public func webSocketDidOpen(_ socket: DelegatedWebSocket) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) {}
}
