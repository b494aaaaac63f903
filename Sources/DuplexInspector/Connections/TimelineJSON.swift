// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// What happened until a WebSocket was open, as the page draws it.
enum TimelineJSON {
    static func json(_ timeline: WebSocketTimeline) -> JSONText {
        var members = JSONText.Members()
        let begin = timeline.began
        members.add("attempt", timeline.attempt)
        members.add("total", begin.duration(to: timeline.opened).inSeconds)
        members.add("steps", .array(steps(of: timeline).map { step(begin, $0) }))
        members.add("attempts", .array((timeline.handshake?.connecting?.attempts ?? []).map(attempt)))
        members.add("firstMessage", timeline.firstMessage.map { begin.duration(to: $0).inSeconds })
        return .object(members.all)
    }

    private struct Step {
        var name: String
        var began: Instant
        var ended: Instant
    }

    /// Of a client its stages; of a server TLS and the upgrade, where they took time.
    private static func steps(of timeline: WebSocketTimeline) -> [Step] {
        if let handshake = timeline.handshake {
            return handshake.steps.map { Step(name: $0.stage.rawValue, began: $0.began, ended: $0.ended) }
        }
        var steps: [Step] = []
        if let tls = timeline.tls {
            steps.append(Step(name: "tls", began: timeline.began, ended: timeline.began.advanced(by: tls)))
        }
        if let upgrade = timeline.upgrade {
            let began = timeline.opened.advanced(by: .zero - upgrade)
            steps.append(Step(name: "upgrade", began: began, ended: timeline.opened))
        }
        return steps
    }

    private static func step(_ begin: Instant, _ step: Step) -> JSONText {
        var members = JSONText.Members()
        members.add("name", step.name)
        members.add("start", begin.duration(to: step.began).inSeconds)
        members.add("end", begin.duration(to: step.ended).inSeconds)
        return .object(members.all)
    }

    private static func attempt(_ attempt: ConnectTimeline.Attempt) -> JSONText {
        var members = JSONText.Members()
        members.add("address", "\(attempt.address)")
        members.add("start", attempt.start.inSeconds)
        members.add("end", attempt.end.inSeconds)
        members.add("outcome", "\(attempt.outcome)")
        return .object(members.all)
    }
}
