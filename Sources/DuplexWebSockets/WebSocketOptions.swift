// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
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
    /// Whether to offer compression of messages (RFC 7692), and how; it is offered unless told otherwise.
    public var compression = WebSocketCompression.offered
    /// What the server may make this side hold; `.internet` unless told otherwise.
    public var limits = Limits.internet
    /// When to ping, and how long to wait for the pong; every 20 seconds for 20 seconds unless told otherwise.
    public var keepalive = Keepalive.every(.seconds(20), timeout: .seconds(20))
    /// How long the whole attempt may take: looking the name up, connecting and the handshakes; 10 seconds.
    public var connectTimeout = Duration.seconds(10)
    /// What secures connections to `wss:`: the system's roots, the name of the host, and `http/1.1` by ALPN (RFC 7301
    /// section 6) unless told otherwise.
    public var tls = standardTLS
    /// How long the closing handshake may take before the connection is reset; 10 seconds.
    public var closeTimeout = Duration.seconds(10)

    /// One value for all, so that its sessions can be resumed.
    private static let standardTLS: TLSOptions = {
        var options = TLSOptions()
        options.applicationProtocols = ["http/1.1"]
        return options
    }()

    /// The defaults.
    public init() {}
}
