// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// How a connection comes to its end: what has ended it, what is still to be done, and whether anything is parsed.
///
/// What the two sides say to each other of it is in ``SessionEnding``; here it is the transport and the app.
struct SocketEnding {
    enum Phase: UInt8, CaseIterable {
        /// Frames go both ways.
        case open
        /// It is known why nothing more is received, and what that asks for is put off: to the end of the turn, until the app has
        /// handled what came before it, or until the message that is being sent has ended.
        case ending
        /// The close frame is on its way and this side writes nothing more; what still arrives is thrown away, so that
        /// the system doesn't answer it with a reset that overtakes the close frame.
        case lingering
        /// The descriptor is closed.
        case closed

        /// What an event makes of it.
        func next(_ event: Event) -> Phase {
            switch (event, self) {
            case (.ends, .open): .ending
            case (.lingers, .open), (.lingers, .ending): .lingering
            case (.closes, _): .closed
            case (.ends, _), (.lingers, _): self
            }
        }
    }

    enum Event: CaseIterable {
        /// Nothing more is received.
        case ends
        /// Nothing more is written.
        case lingers
        /// The descriptor is closed.
        case closes
    }

    /// Why nothing more is received.
    ///
    /// Indirect, because a connection that isn't ending has a place for it too.
    indirect enum Cause {
        case peerClosed
        /// A rule was broken. If the app is asked, a task that has still messages to handle may answer them before the connection
        /// fails.
        case violation(WebSocketProtocolError, isAppAsked: Bool = false)
        case streamEnded
        case lost(SocketError)
    }

    /// What is to be done.
    enum Action {
        case answerClose
        case fail(WebSocketProtocolError)
        /// The transport has ended.
        case finish
    }

    private(set) var cause: Cause?
    private(set) var phase = Phase.open
    /// Whether the peer has ended the stream, perhaps behind bytes that aren't parsed yet.
    private(set) var hasStreamEnded = false
    /// Whether what arrives is parsed: while nothing has ended, and of what came in front of an end.
    ///
    /// Kept beside the phase because every message asks.
    private(set) var isTaking = true

    /// Nothing more is received; a violation in what came in front of an end takes its place.
    mutating func end(_ cause: Cause) {
        self.cause = cause
        take(.ends)
    }

    mutating func linger() { take(.lingers) }

    mutating func close() { take(.closes) }

    private mutating func take(_ event: Event) {
        phase = phase.next(event)
        isTaking = false
    }

    /// The peer has ended the stream.
    mutating func streamEnded() { hasStreamEnded = true }

    /// What came in front of a known end is parsed, until ``endRest()``.
    mutating func beginRest() { isTaking = true }
    mutating func endRest() { isTaking = phase == .open }

    /// What the end asks for; `nil` where nothing does, or it is done.
    var action: Action? {
        guard phase == .ending, let cause else { return nil }
        switch cause {
        case .peerClosed: return .answerClose
        case .violation(let error, _): return .fail(error)
        case .streamEnded, .lost: return .finish
        }
    }

    /// Whether the transport is there, to send and to hear the end.
    var isAttached: Bool { phase.rawValue <= Phase.ending.rawValue }

    /// The rule that was broken, if that is the cause.
    var violation: WebSocketProtocolError? {
        if case .violation(let error, _) = cause { error } else { nil }
    }

    /// How the transport was lost, if that is the cause.
    var loss: SocketError? {
        if case .lost(let error) = cause { error } else { nil }
    }

    /// Whether a task may answer the messages in front of a violation.
    var isAppAsked: Bool {
        if case .violation(_, isAppAsked: true) = cause { true } else { false }
    }

    /// Whether the peer's close is still to be answered.
    var isUnanswered: Bool {
        guard phase == .ending, case .peerClosed = cause else { return false }
        return true
    }
}

/// The one deadline of a connection besides those of its session, and what it is for.
struct SocketDeadline {
    enum Purpose {
        /// Reading goes on: the peer was too fast.
        case pause
        /// What the end asks for is put off no longer.
        case conclusion
        /// The peer has had its time to end the stream.
        case linger
    }

    let timer: TimerID
    let purpose: Purpose
}
