// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
package import Logging

extension WebSocket {
    /// Tells whoever observes that the connection is open.
    func observeOpening() {
        guard let record else { return }
        if let logger = record.observation.logger { logOpening(to: logger) }
        record.observation.span?.named(id)
        if let meters = record.meters {
            let timeline = timeline
            meters.opened(after: timeline.began.duration(to: timeline.opened))
            scheduleMeters(meters)
        }
    }

    /// Tells whoever observes that the connection is closed.
    func observeEnd(_ now: Instant) {
        guard let record else { return }
        record.closed = now
        if let logger = record.observation.logger { logEnd(to: logger) }
        if let span = record.observation.span { span.ended(session.report, session.counts, endingError) }
        if let meters = record.meters {
            meters.ended()
        }
        tell(record.observation.timelines)
        if let timer = record.metersTimer { channel.core.cancel(timer) }
        record.metersTimer = nil
    }

    private func tell(_ sinks: [TimelineSink]) {
        if sinks.isEmpty { return }
        let role: WebSocketSession.Role = session.masksFrames ? .client : .server
        let url = record?.observation.url
        let report = TimelineReport(id, role, timeline, session.report, endingError, url: url)
        for sink in sinks { sink.take(report) }
    }

    /// What went wrong, if anything did.
    private var endingError: (any Error)? {
        if let loss = ending.loss { return loss }
        return session.report.error
    }

    /// Takes note of the round trip of a ping.
    func observe(roundTrip: Duration) {
        record?.meters?.roundTrip(roundTrip)
    }

    func reportMeters() {
        guard let meters = record?.meters else { return }
        meters.report()
        meters.depths(queuedBytes: queuedBytes, inbox: Int(inbox.messageCount))
        scheduleMeters(meters)
    }

    private func scheduleMeters(_ meters: ConnectionMeters) {
        let core = channel.core
        record?.metersTimer = core.schedule(self, at: core.now.advanced(by: meters.interval))
    }

    // MARK: Looking on

    /// Where a client's connection leads, without a query; nil for a server's.
    package var url: String? { record?.observation.url }

    /// Whether this side has connected.
    package var isClient: Bool { session.masksFrames }

    /// Whether messages are received in pieces, as ``streamedMessages`` has them.
    package var receivesPieces: Bool { streams?.isReceiving == true }

    /// Has somebody see the frames from now on.
    ///
    /// - Parameter tap: belongs to this connection alone.
    /// - Returns: the argument for ``endLooking(_:)``.
    package func beginLooking(_ tap: SessionTap) -> LoopBound<SessionTap> {
        session.add(tap)
        return LoopBound(tap, on: loop.thread)
    }

    /// Has that one see no more frames.
    package func endLooking(_ tap: LoopBound<SessionTap>) { session.remove(tap.value) }

    // MARK: Logging

    /// Logs at `debug` that the connection is open, and its peer.
    package func logOpening(to logger: Logger) {
        logger.debug("a WebSocket is open", metadata: openingMetadata)
    }

    private var openingMetadata: Logger.Metadata {
        let timeline = timeline
        var metadata: Logger.Metadata = [
            "connection": "\(id)", "peer": "\(remoteAddress?.description ?? "?")",
            "took": "\(HandshakeTimeline.text(timeline.began.duration(to: timeline.opened)))",
        ]
        if let subprotocol { metadata["subprotocol"] = "\(subprotocol)" }
        if compression != nil { metadata["compression"] = "permessage-deflate" }
        return metadata
    }

    /// Logs how the connection ended.
    ///
    /// At `debug` if in order; else at `notice`, but for a server, whose peers may be anybody: at `debug` as well, and
    /// counted in the summary.
    package func logEnd(to logger: Logger, summary: EndSummary? = nil) {
        let isOfServer = session.role == .server
        if let reason = faultOfPeer { summary?.count(reason, on: loop.core) }
        let (message, fault) = endMessage
        let isFault = fault != nil
        logger.log(level: isFault && !isOfServer ? .notice : .debug, message, metadata: fault ?? endMetadata)
    }

    /// The text about the end, with the error if it wasn't in order.
    private var endMessage: (Logger.Message, Logger.Metadata?) {
        if session.report.error != nil { return ("a WebSocket has failed", endMetadata) }
        if let loss = ending.loss {
            return ("a WebSocket was lost", endMetadata.merging(["error": "\(loss)"]) { $1 })
        }
        if !session.report.isClean { return ("a WebSocket ended without a closing handshake", endMetadata) }
        return ("a WebSocket is closed", nil)
    }

    private var faultOfPeer: EndSummary.Reason? {
        if let error = session.report.error {
            if error.blame == .local { return nil }
            return [.pingTimeout, .messageTimeout].contains(error.code) ? .silent : .violation
        }
        if ending.loss != nil { return .lost }
        return session.report.isClean ? nil : .unclosed
    }

    private var endMetadata: Logger.Metadata {
        let counts = session.counts
        return [
            "connection": "\(id)", "peer": "\(remoteAddress?.description ?? "?")", "report": "\(session.report)",
            "in": "\(counts.messagesReceived) messages, \(counts.bytesReceived) bytes",
            "out": "\(counts.messagesSent) messages, \(counts.bytesSent) bytes",
        ]
    }

    // MARK: The timeline

    /// When a server accepted the connection.
    package var accepted: Instant { session.began.advanced(by: .zero - sinceAccepted.duration) }

    /// What has happened to the connection so far, and when.
    public var timeline: WebSocketTimeline {
        let handshake = record?.observation.handshake
        // The session's times are those at which turns of the loop began; the handshake ended within one.
        let opened = max(session.began, handshake?.steps.last?.ended ?? session.began)
        let counts = session.counts
        return WebSocketTimeline(
            handshake: handshake,
            attempt: record?.observation.attempt ?? 1,
            remoteAddress: remoteAddress,
            began: handshake?.began ?? (record?.tls?.began)
                ?? opened.advanced(by: .zero - sinceAccepted.duration),
            security: record?.security,
            tls: handshake.map { $0.connecting?.tls } ?? record?.tls?.took,
            upgrade: handshake.map(\.upgrade) ?? upgradeTime.duration,
            opened: opened,
            firstMessage: session.firstMessage.map { max($0, opened) },
            closed: record?.closed.map { max($0, opened) },
            bytesReceived: counts.bytesReceived,
            bytesSent: counts.bytesSent
        )
    }

    // MARK: Latency

    /// What the round trips of pings have shown so far: those that ``WebSocketOptions/pings`` asks for, and those of ``ping(_:timeout:)``.
    public var latency: Latency { session.latency }

    /// The round trips from here on, each as it is measured.
    ///
    /// The last 16 wait for whoever doesn't keep up. Ends when the connection is closed; cancelling, or dropping the
    /// stream, ends it too.
    ///
    /// - Returns: a stream for one reader; any number of them may be asked for.
    public func roundTrips() -> AsyncStream<Duration> {
        let (stream, continuation) = AsyncStream.makeStream(of: Duration.self, bufferingPolicy: .bufferingNewest(16))
        guard ending.phase != .closed else {
            continuation.finish()
            return stream
        }
        let id = SocketWaiters.nextID()
        latencyWatchers[id] = continuation
        continuation.onTermination = { [weak self, loop] _ in
            loop.execute { [weak self] _ in self?.assumeIsolated { $0.latencyWatchers[id] = nil } }
        }
        return stream
    }

    func tellWatchers(_ roundTrip: Duration) {
        for watcher in latencyWatchers.values { watcher.yield(roundTrip) }
    }

    func forgetWatchers() {
        let watchers = latencyWatchers.values
        latencyWatchers = [:]
        for watcher in watchers { watcher.finish() }
    }

    // MARK: The peer

    /// What TLS came to: the version, the cipher, the certificates of the peer; `nil` without TLS, and once the connection is
    /// closed.
    ///
    /// Read from the connection each time it is asked for.
    public var tls: TLSInfo? { channel.tlsConnection }

    /// The certificates that the peer has shown, its own one first.
    ///
    /// Of a client those that the server has shown. Of a server those of its client: empty for one that showed none, and all are
    /// checked as `TLSServerOptions.clientCertificates` says before anything is received. Empty without TLS, and once the
    /// connection is closed.
    package var peerCertificates: [TLSCertificate] { tls?.peerCertificates ?? [] }

    /// Which process is at the other end of a Unix socket: its number, user and group.
    ///
    /// `nil` for other connections, for one in memory, and once the connection is closed. Behind a proxy it is the proxy's
    /// process. A system call each time.
    public var peerCredentials: PeerCredentials? { channel.peerCredentials }
}

/// A connection as it was at one instant: for pages of status, for logs, for whoever looks for what is slow.
///
/// A value, which prints over several lines. Taking one costs a few microseconds and disturbs nothing.
package struct WebSocketSnapshot: Sendable, Identifiable {
    /// Identifies the connection in the process.
    package let id: ConnectionID
    /// Which side of the connection this is.
    package let role: WebSocketSession.Role
    /// Its state.
    package let state: WebSocketSession.State
    /// The address of this side; `nil` once the connection is closed.
    package let localAddress: SocketAddress?
    /// The address of the peer.
    package let remoteAddress: SocketAddress?
    /// The subprotocol that was agreed on.
    package let subprotocol: String?
    /// What was agreed on for compression; `nil` if messages aren't compressed.
    package let compression: DeflateAgreement?
    /// What compression has done; `nil` if messages aren't compressed.
    package let compressionCounts: CompressionCounts?
    /// What has gone over it.
    package let counts: SessionCounts
    /// The bytes that were written and not sent yet.
    package let queuedBytes: Int
    /// Messages that wait for the app.
    package let inboxMessages: Int
    /// The bytes that these have.
    package let inboxBytes: Int
    /// What the round trips of pings have shown.
    package let latency: Latency
    /// What has happened, and when.
    package let timeline: WebSocketTimeline
    /// When the peer was last heard of.
    package let lastHeard: Instant
    /// How the connection ended, or how far its end has come.
    package let closeReport: CloseReport
    /// How many messages were dropped because the peer was behind; `nil` where nothing would be.
    package let droppedMessages: Int?
    /// When this was taken.
    package let taken: Instant

    /// How long it has been open.
    package var age: Duration { timeline.opened.duration(to: timeline.closed ?? taken) }

    /// How long the peer has been silent.
    package var silence: Duration { lastHeard.duration(to: taken) }
}

extension WebSocket {
    /// The connection as it is now.
    package var snapshot: WebSocketSnapshot {
        WebSocketSnapshot(
            id: id,
            role: session.masksFrames ? .client : .server,
            state: state,
            localAddress: ending.phase == .closed ? nil : localAddress,
            remoteAddress: remoteAddress,
            subprotocol: subprotocol,
            compression: compression,
            compressionCounts: compressionCounts,
            counts: session.counts,
            queuedBytes: queuedBytes,
            inboxMessages: Int(inbox.messageCount),
            inboxBytes: inbox.byteCount,
            latency: latency,
            timeline: timeline,
            lastHeard: session.lastHeardOf,
            closeReport: closeReport,
            droppedMessages: follower?.droppedMessages,
            taken: loop.clock.now()
        )
    }
}

extension WebSocketSnapshot: CustomStringConvertible {
    /// A line for each of who, what was agreed on, what arrived, what was sent, what waits, and when.
    package var description: String {
        let peer = remoteAddress?.description ?? "somebody"
        let here = localAddress.map { " from \($0)" } ?? ""
        var lines = ["\(id): \(role), \(state), with \(peer)\(here)"]
        if let subprotocol { lines.append("subprotocol \(subprotocol)") }
        lines.append(
            "in \(Self.messages(counts.messagesReceived, counts.bytesReceived)), "
                + "\(counts.controlFramesReceived) control frames"
        )
        lines.append(
            "out \(Self.messages(counts.messagesSent, counts.bytesSent)), \(counts.controlFramesSent) control frames"
        )
        if let counts = compressionCounts {
            lines.append(
                "compression: in \(counts.bytesBeforeInflating) to \(counts.bytesInflated) bytes, "
                    + "out \(counts.bytesBeforeDeflating) to \(counts.bytesDeflated) bytes"
            )
        }
        lines.append(
            "waiting: \(queuedBytes) bytes to be sent, \(Self.messages(inboxMessages, inboxBytes)) for the app"
        )
        if let last = latency.last, let smoothed = latency.smoothed {
            lines.append("round trip \(HandshakeTimeline.text(last)), smoothed \(HandshakeTimeline.text(smoothed))")
        }
        lines.append("open for \(Self.text(age)), peer silent for \(Self.text(silence))")
        lines.append("\(timeline)")
        if state != .open { lines.append("\(closeReport)") }
        return lines.joined(separator: "\n  ")
    }

    private static func messages(_ count: Int, _ bytes: Int) -> String {
        "\(count) \(count == 1 ? "message" : "messages") of \(bytes) bytes"
    }

    private static func text(_ duration: Duration) -> String {
        duration < .seconds(10) ? HandshakeTimeline.text(duration) : "\(duration.components.seconds) s"
    }
}
