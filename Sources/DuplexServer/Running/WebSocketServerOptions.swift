// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire

/// A server's settings for its WebSockets: ``WebServer/webSockets``.
///
/// ```swift
/// server.webSockets.compression = .enabled
/// server.webSockets.pings = .every(.seconds(20), timeout: .seconds(20))
/// ```
///
/// A route or a group can differ in ``pings``, ``subprotocols``, ``origins`` and ``compression`` by the
/// ``RouteOption`` of that name. The bounds of messages are in ``ServerLimits/messages``, beside those of requests; the time for
/// a closing handshake is ``WebServer/closeTimeout``.
public struct WebSocketServerOptions: Sendable {
    /// When to ping clients, and how long to wait for the pong (RFC 6455 section 5.5.2).
    ///
    /// Default: every 20 s, for 20 s.
    public var pings = PingPolicy.every(.seconds(20), timeout: .seconds(20))
    /// The subprotocols that routes speak, the preferred one first (RFC 6455 section 1.9).
    ///
    /// Default: none.
    public var subprotocols: [String] = []
    /// Which pages may open WebSockets (RFC 6455 section 10.2).
    ///
    /// Default: those of the same host.
    public var origins = OriginPolicy.sameHost
    /// Whether messages are compressed for clients that offer it (RFC 7692), and how.
    ///
    /// Default: `.disabled`. Compression costs a server time and memory for each client; see `CompressionParameters`.
    public var compression = WebSocketCompression.disabled
    /// The clients whose offers of compression are declined because theirs doesn't work.
    ///
    /// Default: those that are known.
    var compressionQuirks = CompressionQuirks.known
    /// The metrics of WebSockets; for those of requests see ``RouteOption/metrics(_:)``.
    ///
    /// Default: none.
    public var metrics: WebSocketMetrics?
    /// A tap that sees every frame in either direction.
    ///
    /// Default: none.
    public var tap: FrameTap?
    /// Sinks that get the timeline of each WebSocket at its end.
    ///
    /// Default: none.
    public var timelines: [TimelineSink] = []

    /// Makes a value with the defaults.
    public init() {}

    /// The durations that are set here.
    var durations: [DurationSetting] {
        pings.durations.within("webSockets")
            + (metrics.map { [DurationSetting("webSockets.metrics.interval", $0.interval)] } ?? [])
    }
}
