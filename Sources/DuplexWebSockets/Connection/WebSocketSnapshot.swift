// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire

/// A connection as it was at one instant: for pages of status, for logs, for whoever looks for what is slow.
///
/// A value, which prints over several lines. Taking one costs a few microseconds and disturbs nothing.
public struct WebSocketSnapshot: Sendable, Identifiable {
    /// Identifies the connection in the process.
    public let id: ConnectionID
    /// Which side of the connection this is.
    public let role: Session.Role
    /// Its state.
    public let state: Session.State
    /// The address of this side; `nil` once the connection is closed.
    public let localAddress: SocketAddress?
    /// The address of the peer.
    public let remoteAddress: SocketAddress?
    /// The subprotocol that was agreed on.
    public let subprotocol: String?
    /// What was agreed on for compression; `nil` if messages aren't compressed.
    public let compression: DeflateAgreement?
    /// What compression has done; `nil` if messages aren't compressed.
    public let compressionCounts: MessageCompression.Counts?
    /// What has gone over it.
    public let counts: SessionCounts
    /// The bytes that were written and not sent yet.
    public let queuedBytes: Int
    /// Messages that wait for the app.
    public let inboxMessages: Int
    /// The bytes that these have.
    public let inboxBytes: Int
    /// What the round trips of pings have shown.
    public let latency: Latency
    /// What has happened, and when.
    public let timeline: WebSocketTimeline
    /// When the peer was last heard of.
    public let lastHeard: Instant
    /// How the connection ended, or how far its end has come.
    public let closeReport: CloseReport
    /// How many messages were dropped because the peer was behind; `nil` where nothing would be.
    package let droppedMessages: Int?
    /// When this was taken.
    public let taken: Instant

    /// How long it has been open.
    public var age: Duration { timeline.opened.duration(to: timeline.closed ?? taken) }

    /// How long the peer has been silent.
    public var silence: Duration { lastHeard.duration(to: taken) }
}

extension WebSocket {
    /// The connection as it is now.
    public var snapshot: WebSocketSnapshot {
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
    public var description: String {
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
