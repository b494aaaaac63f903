// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire

/// The callbacks of a ``DelegatedReconnectingWebSocket``, on its queue, one call after the other.
///
/// For code that was written for XPWebSocket. Each method has an implementation that does nothing. A client that was
/// opened ends once: by one of the last two, and then by the state `idle`.
public protocol ReconnectingDelegate: AnyObject {
    /// A message came; the next one is received once this returns, so that a slow delegate slows the peer down.
    func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message)

    /// The client is in another state.
    func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didChangeTo state: DelegatedReconnectingWebSocket.State
    )

    /// A stage of an attempt has begun, or is over: the name, each address, the proxy, TLS, the upgrade.
    ///
    /// Those of an attempt come behind the state that says that it is made, and before the one that it leads to; behind the
    /// messages of the connection before. What is cut short by the client's end isn't told.
    func webSocket(_ socket: DelegatedReconnectingWebSocket, didReach event: StageEvent)

    /// No attempt is made any more, because of this error.
    func webSocket(_ socket: DelegatedReconnectingWebSocket, didFailWith error: WebSocketError)

    /// The connection was closed for good: by this side, or by the server with a code that asks for no other attempt.
    func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didCloseWith code: CloseCode,
        reason: String,
        wasClean: Bool
    )
}

extension ReconnectingDelegate {
    /// Does nothing.
    public func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {}

    /// Does nothing.
    public func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didChangeTo state: DelegatedReconnectingWebSocket.State
    ) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedReconnectingWebSocket, didReach event: StageEvent) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedReconnectingWebSocket, didFailWith error: WebSocketError) {}

    /// Does nothing.
    public func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didCloseWith code: CloseCode,
        reason: String,
        wasClean: Bool
    ) {}
}
