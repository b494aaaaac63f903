// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// How a client connects, and how its connection behaves.
public struct WebSocketOptions: Sendable {
    /// The subprotocols to offer, the preferred one first; the server chooses one or none (RFC 6455 section 1.9).
    public var subprotocols: [String] = []
    /// Fields to send with the request.
    ///
    /// They replace ours of the same name, except those that make the handshake.
    public var headers = HTTPFields()
    /// What the server may make this side hold; `.internet` unless told otherwise.
    public var limits = Limits.internet
    /// When to ping, and how long to wait for the pong; every 20 seconds for 20 seconds unless told otherwise.
    public var keepalive = Keepalive.every(.seconds(20), timeout: .seconds(20))
    /// How long the whole attempt may take: looking the name up, connecting and the handshake; 10 seconds.
    public var connectTimeout = Duration.seconds(10)
    /// How long the closing handshake may take before the connection is reset; 10 seconds.
    public var closeTimeout = Duration.seconds(10)

    /// The defaults.
    public init() {}
}
