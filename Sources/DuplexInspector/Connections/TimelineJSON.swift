// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// What happened until a WebSocket was open, as the page draws it; times are in seconds since it began.
struct TimelineJSON: Codable, Sendable {
    struct Step: Codable, Sendable {
        var name: String
        var start: Double
        var end: Double
    }

    /// An address that was tried.
    struct Attempt: Codable, Sendable {
        var address: String
        var start: Double
        var end: Double
        var outcome: String
    }

    var attempt: Int
    var total: Double
    /// Of a client its stages; of a server TLS and the upgrade, where they took time.
    var steps: [Step]
    var attempts: [Attempt]
    var firstMessage: Double?

    init(_ timeline: WebSocketTimeline) {
        attempt = timeline.attempt
        total = timeline.began.duration(to: timeline.opened).inSeconds
        steps = Self.steps(of: timeline)
        attempts = (timeline.handshake?.connecting?.attempts ?? []).map { attempt in
            Attempt(
                address: "\(attempt.address)",
                start: attempt.start.inSeconds,
                end: attempt.end.inSeconds,
                outcome: "\(attempt.outcome)"
            )
        }
        firstMessage = timeline.firstMessage.map { timeline.began.duration(to: $0).inSeconds }
    }

    private static func steps(of timeline: WebSocketTimeline) -> [Step] {
        func step(_ name: String, _ began: Instant, _ ended: Instant) -> Step {
            let begin = timeline.began
            return Step(
                name: name,
                start: begin.duration(to: began).inSeconds,
                end: begin.duration(to: ended).inSeconds
            )
        }
        if let handshake = timeline.handshake {
            return handshake.steps.map { step($0.stage.rawValue, $0.began, $0.ended) }
        }
        var steps: [Step] = []
        if let tls = timeline.tls { steps.append(step("tls", timeline.began, timeline.began.advanced(by: tls))) }
        if let upgrade = timeline.upgrade {
            steps.append(step("upgrade", timeline.opened.advanced(by: .zero - upgrade), timeline.opened))
        }
        return steps
    }
}
