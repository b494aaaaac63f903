// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire

/// The callbacks of a ``DelegatedWebSocket``, on its queue, one call after the other.
///
/// For code that was written for SocketRocket. A class of the main actor conforms there: `@MainActor
/// WebSocketDelegate`. Each method has a default implementation, so implement only those that you need. Messages, pings
/// and pongs are delivered in the order in which they came. Exactly one of the last two is called, once, and nothing
/// after it.
public protocol WebSocketDelegate: AnyObject {
    /// A stage of connecting has begun, or is over: the name, each address, the proxy, TLS, the upgrade; all of them before
    /// the connection is open or has failed.
    func webSocket(_ socket: DelegatedWebSocket, didReach event: StageEvent)

    /// The handshake is done: messages may be sent.
    func webSocketDidOpen(_ socket: DelegatedWebSocket)

    /// A message came; the next one is received once this returns, so that a slow delegate slows the peer down.
    ///
    /// The default implementation calls ``webSocket(_:didReceiveText:)`` or ``webSocket(_:didReceiveData:)``. If you
    /// implement this method, these two aren't called, so that each message is delivered once.
    func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message)

    /// A text came; it was UTF-8.
    func webSocket(_ socket: DelegatedWebSocket, didReceiveText text: String)

    /// A binary message came.
    func webSocket(_ socket: DelegatedWebSocket, didReceiveData data: [UInt8])

    /// A ping came, with that payload of up to 125 bytes; its pong needs nobody's help and may be out already.
    ///
    /// Of those that wait for a slow delegate, the last 64 are delivered.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePing payload: [UInt8])

    /// A pong came, with that payload: for a ``DelegatedWebSocket/ping(_:)``, or one that nobody asked for.
    ///
    /// Those that `WebSocketOptions.pings` asked for aren't delivered. Bounded as of
    /// ``webSocket(_:didReceivePing:)``.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePong payload: [UInt8])

    /// The pong for a ``DelegatedWebSocket/ping(_:)`` came, that long after it; called after the method with its
    /// payload.
    ///
    /// A pong answers the pings before its own as well (RFC 6455 section 5.5.3), for which there is no call.
    func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration)

    /// Both sides have closed the connection in order, with whatever codes.
    func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport)

    /// The connection couldn't be made, was lost, or broke the protocol or a limit.
    func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError)
}

extension WebSocketDelegate {
    /// Does nothing.
    public func webSocket(_ socket: DelegatedWebSocket, didReach event: StageEvent) {}

    /// Does nothing.
    public func webSocketDidOpen(_ socket: DelegatedWebSocket) {}

    /// Calls the method for the text or the bytes.
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

// MARK: What is refused

extension WebSocketError {
    static func queueFull(_ waiting: Int, _ bytes: Int, _ limit: ByteCount) -> WebSocketError {
        let message = "\(waiting) bytes wait to be sent, and \(bytes) more are above the limit of \(limit)."
        return WebSocketError(.queueFull, message: message)
    }

    static func queueFull(_ limit: Int) -> WebSocketError {
        WebSocketError(.queueFull, message: "\(limit) messages and pings wait to be sent, and that is the limit.")
    }
}
