// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// How WebSockets are closed when the server shuts down.
///
/// Clients that are all closed at once reconnect all at once. Closed in batches, they reconnect to the remaining
/// servers, or to the next one, at a rate that these can bear. Handlers run on until their connection's turn comes.
public struct Drain: Sendable, Hashable {
    /// The close code.
    ///
    /// Default: 1001.
    ///
    /// 1012 says that another server takes over at once (RFC 6455 section 7.4.1, and IANA's registry).
    public var code: CloseCode
    /// The reason for people; cut at 123 bytes.
    public var reason: String
    /// Over how long they are closed.
    ///
    /// Default: zero, for all at once.
    public var spread: Duration

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - code: the close code; as in `WebSocket.close(code:reason:)`.
    ///   - reason: the reason for people.
    ///   - spread: over how long, in 20 batches at most. `WebServer.closeTimeout` counts from the last of them.
    public init(code: CloseCode = .goingAway, reason: String = "", over spread: Duration = .zero) {
        self.code = code
        self.reason = reason
        self.spread = spread
    }
}
