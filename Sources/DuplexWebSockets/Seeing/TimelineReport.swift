// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

/// The timeline of a connection that has ended, or of an attempt that failed.
public struct TimelineReport: Sendable {
    /// Which connection; `nil` for an attempt that failed.
    public let connection: ConnectionID?
    /// Which side of it this is.
    public let role: WebSocketSession.Role
    /// Where a client's connection leads, or the request of an attempt that failed, without credentials and query; `nil` for a
    /// server's.
    public let url: String?
    /// Which attempt it was, where connections are made again; 1 for the first.
    public let attempt: Int
    /// How the connection was made, or how far the attempt came; `nil` for a server's, and for an attempt that was over before
    /// anything was begun.
    public let handshake: HandshakeTimeline?
    /// What happened to the connection; `nil` for an attempt that failed.
    public let timeline: WebSocketTimeline?
    /// How the connection ended; `nil` for an attempt that failed.
    public let closeReport: CloseReport?
    /// The reason that the close frame of the peer had, or else that of this side; `nil` if neither had one.
    package var closeReason: String? {
        let reasons = [closeReport?.received?.reason, closeReport?.sent?.reason]
        return reasons.compactMap(\.self).first { !$0.isEmpty }
    }
    /// Why the attempt failed, or why the connection was lost or failed; `nil` when it ended in order.
    public let error: (any Error)?

    /// A connection that has ended.
    init(
        _ socket: ConnectionID,
        _ role: WebSocketSession.Role,
        _ timeline: WebSocketTimeline,
        _ end: CloseReport,
        _ error: (any Error)?,
        url: String? = nil
    ) {
        connection = socket
        self.url = url
        self.role = role
        attempt = timeline.attempt
        handshake = timeline.handshake
        self.timeline = timeline
        closeReport = end
        self.error = error
    }

    /// An attempt of a client's that failed.
    init(failed error: any Error, url: String? = nil, attempt: Int = 1) {
        connection = nil
        self.url = url
        role = .client
        self.attempt = attempt
        handshake = (error as? WebSocketError)?.timeline
        timeline = nil
        closeReport = nil
        self.error = error
    }

    /// How long each stage took, by its name; those that there were.
    var stages: [(name: String, took: Duration)] {
        let connecting = handshake?.connecting
        let chosen = connecting?.attempts.first { $0.outcome == .connected }
        let opening = timeline.map { $0.began.duration(to: $0.opened) }
        let first = timeline.flatMap { timeline in timeline.firstMessage.map { timeline.opened.duration(to: $0) } }
        let all: [(String, Duration?)] = [
            ("names", connecting?.nameLookup), ("connecting", chosen.map { $0.end - $0.start }),
            ("proxy", connecting?.proxy), ("roots", connecting?.roots),
            ("tls", connecting?.tls ?? timeline?.tls),
            ("upgrade", handshake?.upgrade ?? timeline?.upgrade), ("opening", opening), ("first_message", first),
        ]
        return all.compactMap { name, took in took.map { (name, $0) } }
    }

    /// The story as an object of JSON; times are in microseconds: how long something took, or since the beginning.
    func json(at time: String) -> JSONText {
        let connecting = handshake?.connecting
        let security = timeline?.security ?? handshake?.security
        let opening = timeline.map { $0.began.duration(to: $0.opened) }
        let first = timeline.flatMap { timeline in timeline.firstMessage.map { timeline.began.duration(to: $0) } }
        let closed = timeline.flatMap { timeline in timeline.closed.map { timeline.began.duration(to: $0) } }
        var members = JSONText.Members()
        members.add("time", time)
        members.add("connection", connection?.description)
        members.add("url", url)
        members.add("role", role == .client ? "client" : "server")
        members.add("attempt", attempt)
        members.add("outcome", timeline == nil ? "failed" : "closed")
        members.add("remote", (timeline?.remoteAddress ?? handshake?.remoteAddress)?.description)
        members.add("stage", handshake?.stage.rawValue)
        members.add("requests", handshake?.requests)
        members.add("names_took_us", Self.time(connecting?.nameLookup))
        members.add("resolved", connecting.map { JSONText.array($0.addresses.map { .string($0.description) }) })
        let start = handshake?.connectingBegan ?? .zero
        members.add("addresses", connecting.map { JSONText.array($0.attempts.map { Self.json($0, from: start) }) })
        members.add(
            "steps",
            handshake.map { handshake in
                JSONText.array(handshake.steps.map { Self.json($0, since: handshake.began) })
            }
        )
        members.add("proxy_took_us", Self.time(connecting?.proxy))
        members.add("roots_took_us", Self.time(connecting?.roots))
        members.add("tls", security?.version.description)
        members.add("tls_resumed", security?.isResumed)
        members.add("tls_took_us", Self.time(connecting?.tls ?? timeline?.tls))
        members.add("upgrade_took_us", Self.time(handshake?.upgrade ?? timeline?.upgrade))
        members.add("opened_us", Self.time(opening))
        members.add("failed_us", Self.time(timeline == nil ? handshake?.total : nil))
        members.add("first_message_us", Self.time(first))
        members.add("closed_us", Self.time(closed))
        members.add("bytes_in", timeline?.bytesReceived)
        members.add("bytes_out", timeline?.bytesSent)
        members.add("code", closeReport.map { Int($0.code.rawValue) })
        members.add("reason", closeReason)
        members.add("clean", closeReport?.isClean)
        members.add("error", error.map { String(describing: $0) })
        return .object(members.all)
    }

    private static func json(_ attempt: ConnectTimeline.Attempt, from start: Duration) -> JSONText {
        var members = JSONText.Members()
        members.add("address", attempt.address.description)
        members.add("start_us", time(start + attempt.start))
        members.add("end_us", time(start + attempt.end))
        members.add("outcome", attempt.outcome.description)
        return .object(members.all)
    }

    private static func json(_ step: HandshakeTimeline.Step, since began: Instant) -> JSONText {
        var members = JSONText.Members()
        members.add("stage", step.stage.rawValue)
        members.add("start_us", time(began.duration(to: step.began)))
        members.add("end_us", time(began.duration(to: step.ended)))
        members.add("outcome", step.hasFailed ? "failed" : "done")
        return .object(members.all)
    }

    private static func time(_ duration: Duration?) -> Int? {
        duration.map { Int($0.wholeNanoseconds / 1_000) }
    }
}
