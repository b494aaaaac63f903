// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// What happened to a connection, and when, from the first step to its end.
///
/// Instants are of the monotonic clock. A value: a copy stays as it was, so ask again for what came later.
public struct WebSocketTimeline: Sendable, Hashable, CustomStringConvertible {
    /// How a client's connection was made: the name, each address, the proxy, TLS, the requests; `nil` for a server's.
    public var handshake: HandshakeTimeline?
    /// Which attempt it took, where connections are made again; 1 for the first.
    public var attempt = 1
    /// The address of the peer; `nil` when it was gone before that could be asked.
    public var remoteAddress: SocketAddress?
    /// When it began: a client's with the attempt, a server's when it was accepted.
    public var began: Instant
    /// What TLS came to; `nil` in the clear.
    package var security: HandshakeTimeline.Security?
    /// How long the TLS handshake took; `nil` in the clear.
    public var tls: Duration?
    /// How long it took from the request to the answer that opened the WebSocket.
    public var upgrade: Duration?
    /// When the WebSocket was open.
    public var opened: Instant
    /// When the first message had arrived; `nil` if none has.
    public var firstMessage: Instant?
    /// When the connection was closed; `nil` before.
    public var closed: Instant?
    /// The bytes of the messages that have arrived.
    public var bytesReceived = 0
    /// The bytes of the messages that were sent.
    public var bytesSent = 0

    /// What happened in one line, with times since the beginning.
    public var description: String {
        var parts: [String] = []
        if attempt > 1 { parts.append("attempt \(attempt)") }
        if let handshake {
            parts += handshake.parts
        } else {
            if let tls { parts.append("\(security?.description ?? "TLS") \(HandshakeTimeline.text(tls))") }
            if let upgrade { parts.append("upgrade \(HandshakeTimeline.text(upgrade))") }
        }
        parts.append("open at \(text(opened))")
        if let firstMessage { parts.append("first message at \(text(firstMessage))") }
        if let closed { parts.append("closed at \(text(closed))") }
        return parts.joined(separator: " · ")
    }

    private func text(_ instant: Instant) -> String {
        HandshakeTimeline.text(began.duration(to: instant))
    }
}
