// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

extension HandshakeTimeline {
    /// A part of an attempt, and when it was.
    public struct Step: Sendable, Hashable {
        /// Which part.
        public let stage: Stage
        /// When it began, on the monotonic clock.
        public let began: Instant
        /// When it was over.
        public let ended: Instant
        /// Whether the attempt was over with it, without a WebSocket.
        public let hasFailed: Bool
    }

    /// The parts of the last request with their instants, in their order: those that were begun, and how they came out.
    ///
    /// ``Stage/connecting`` is all addresses together, whose own times and outcomes are `ConnectTimeline.attempts`. Before
    /// the first part are tokens that were asked for, and the requests that led to this one. ``Stage/request`` is a part only
    /// where it was the last.
    public var steps: [Step] {
        guard let connecting else { return [step(stage, .zero, total)] }
        let start = connectingBegan
        var steps = connecting.intervals.map { step($0.stage, start + $0.start, start + $0.end) }
        if let upgrade { steps.append(step(.upgrade, asked, asked + upgrade)) }
        return steps
    }

    private func step(_ stage: Stage, _ start: Duration, _ end: Duration) -> Step {
        Step(
            stage: stage,
            began: began.advanced(by: start),
            ended: began.advanced(by: end),
            hasFailed: !isOpen && stage == self.stage
        )
    }

    /// When the server was asked, or the attempt was over, since its beginning.
    var asked: Duration { max(.zero, total - (upgrade ?? .zero)) }

    /// When the connection for the last request was begun, since the beginning of the attempt.
    var connectingBegan: Duration { max(.zero, asked - (connecting?.total ?? .zero)) }
}

extension ConnectTimeline {
    /// Its parts one after the other, and when each was.
    var intervals: [(stage: HandshakeTimeline.Stage, start: Duration, end: Duration)] {
        var intervals: [(stage: HandshakeTimeline.Stage, start: Duration, end: Duration)] = []
        if let names { intervals.append((.names, .zero, names)) }
        var position = attempts.map(\.end).max() ?? .zero
        if let chosen = attempts.first(where: { $0.outcome == .connected }) { position = chosen.end }
        if let first = attempts.first { intervals.append((.connecting, first.start, position)) }
        for (stage, took) in [(HandshakeTimeline.Stage.proxy, proxy), (.roots, roots), (.tls, tls)] {
            guard let took else { continue }
            intervals.append((stage, position, position + took))
            position += took
        }
        return intervals
    }
}
