// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
package import Logging

/// What is to be seen of a connection by whoever asked for it, and how a client's came about.
package struct Observation: Sendable {
    /// How the connection was made; of a client.
    package var handshake: HandshakeTimeline?
    /// Where it leads, without a query; of a client.
    package var url: String?
    /// The fields of the answer that opened it; of a client.
    var responseHeaders: HTTPFields?
    /// Logs the opening and the end; a server has its own log.
    package var logger: Logger?
    package var metrics: WebSocketMetrics?
    package var span: ConnectionSpan?
    /// Sees the frames.
    package var tap: FrameTap?
    /// Which attempt it took; of a client that reconnects.
    var attempt = 1
    /// Get the timeline at the end.
    package var timelines: [TimelineSink] = []

    package init() {}

    /// Whether there is nothing to be seen.
    package var isEmpty: Bool {
        handshake == nil && logger == nil && metrics == nil && span == nil && tap == nil
            && timelines.isEmpty
    }
}

/// What belongs to some connections only: everything that observes one lies behind this one reference.
///
/// Belongs to the loop of its connection.
final class ConnectionRecord {
    let observation: Observation
    /// What TLS came to.
    let security: HandshakeTimeline.Security?
    /// How long the TLS handshake of a server took, and when it began.
    let tls: (began: Instant, took: Duration)?
    /// What the connection is counted by.
    let meters: ConnectionMeters?
    /// When the numbers are reported next.
    var metersTimer: TimerID?
    /// When the transport was closed.
    var closed: Instant?

    init(_ observation: Observation?, _ session: WebSocketSession, _ channel: Channel) {
        self.observation = observation ?? Observation()
        security = observation?.handshake?.security ?? HandshakeTimeline.Security(channel.tlsConnection)
        tls = channel.tlsHandshake
        meters = observation?.metrics.map { ConnectionMeters($0, session) }
    }

    /// One for a connection that has something to record; most of a server have nothing.
    static func make(_ observation: Observation?, _ session: WebSocketSession, _ channel: Channel) -> ConnectionRecord?
    {
        if observation?.isEmpty ?? true && !channel.isSecured { return nil }
        return ConnectionRecord(observation, session, channel)
    }
}
