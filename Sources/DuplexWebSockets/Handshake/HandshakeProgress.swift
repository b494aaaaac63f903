// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// What is known of an attempt so far, from which its timeline is made at any time.
struct HandshakeProgress: Sendable {
    let began: Instant
    /// Where the time comes from, the loop's.
    let clock: LoopClock
    let requests: Int
    let span: HandshakeSpan?
    /// How the connection for the latest request was made.
    var connecting: ConnectTimeline?
    /// What TLS with the server came to.
    var security: HandshakeTimeline.Security?
    /// Whether the server has asked for a certificate and got none.
    var lacksCertificate = false

    init(began: Instant, clock: LoopClock = .system, requests: Int, span: HandshakeSpan? = nil) {
        self.began = began
        self.clock = clock
        self.span = span
        self.requests = requests
    }

    /// The address that was connected to: the server's, or its proxy's.
    var remoteAddress: SocketAddress? { connecting?.attempts.first { $0.outcome == .connected }?.address }

    /// The same with a connection.
    func connected(_ timeline: ConnectTimeline, _ connection: TLSConnection?) -> HandshakeProgress {
        var progress = self
        progress.connecting = timeline
        // A channel in the clear behind a proxy is secured up to that alone.
        if timeline.tls != nil {
            progress.security = HandshakeTimeline.Security(connection)
            progress.lacksCertificate = connection?.lacksCertificate ?? false
        }
        return progress
    }

    /// What has happened up to now.
    func timeline(
        _ stage: HandshakeTimeline.Stage,
        upgrade: Duration? = nil,
        isOpen: Bool = false
    ) -> HandshakeTimeline {
        HandshakeTimeline(
            stage,
            began: began,
            connecting: connecting,
            security: security,
            upgrade: upgrade,
            isOpen: isOpen,
            requests: requests,
            total: began.duration(to: clock.now())
        )
    }
}
