// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// What a ``DelegatedWebSocket`` tells, on the queue that it was given, one call after the other.
///
/// For code that comes over from SocketRocket. A class of the main actor conforms there: `@MainActor WebSocketDelegate`. Each method has an implementation, so that only those are written that are
/// wanted. Messages, pings and pongs are told in the order in which they came. Exactly one of the last two is called, once,
/// and nothing after it.
public protocol WebSocketDelegate: AnyObject {
    /// The handshake is done: messages may be sent.
    func webSocketDidOpen(_ socket: DelegatedWebSocket)

    /// A message came; the next one is received once this returns, so that a slow delegate slows the peer down.
    ///
    /// Tells ``webSocket(_:didReceiveText:)`` or ``webSocket(_:didReceiveData:)`` unless it is written anew: then these two
    /// aren't called, so that each message is told once.
    func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message)

    /// A text came; it was UTF-8.
    func webSocket(_ socket: DelegatedWebSocket, didReceiveText text: String)

    /// A binary message came.
    func webSocket(_ socket: DelegatedWebSocket, didReceiveData data: [UInt8])

    /// A ping came, with that payload of up to 125 bytes; its pong needs nobody's help and may be out already.
    ///
    /// Of those that wait for a slow delegate, the last 64 are told.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePing payload: [UInt8])

    /// A pong came, with that payload: for a ``DelegatedWebSocket/ping(_:)``, or one that nobody asked for.
    ///
    /// Those that `WebSocketOptions.keepalive` asked for aren't told. Bounded as of ``webSocket(_:didReceivePing:)``.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePong payload: [UInt8])

    /// The pong for a ``DelegatedWebSocket/ping(_:)`` came, that long after it; told behind its payload.
    ///
    /// A pong answers the pings before its own as well (RFC 6455 section 5.5.3), for which nothing is told.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration)

    /// Both sides have closed the connection in order, with whatever codes.
    func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport)

    /// The connection couldn't be made, was lost, or broke the protocol or a limit.
    func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError)
}

extension WebSocketDelegate {
    /// Does nothing.
    public func webSocketDidOpen(_ socket: DelegatedWebSocket) {}

    /// Tells the text or the bytes.
    public func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) {
        switch message {
        case .text(let text): webSocket(socket, didReceiveText: text)
        case .binary(let data): webSocket(socket, didReceiveData: data)
        }
    }

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceiveText text: String) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceiveData data: [UInt8]) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceivePing payload: [UInt8]) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceivePong payload: [UInt8]) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) {}
}
