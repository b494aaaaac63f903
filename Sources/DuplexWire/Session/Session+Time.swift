// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase

// What time asks for.

extension Session {
    /// What the owner has to do when a deadline has passed.
    public enum TimeoutAction: Sendable, Hashable {
        /// Nothing.
        case none
        /// A ping waits in the control output.
        case wrote
        /// The peer was silent too long: fail the connection with this error.
        case keepaliveTimedOut(ProtocolError)
        /// The peer took too long over a message: fail the connection with this error.
        case messageTimedOut(ProtocolError)
        /// The closing handshake took too long: end the transport (RFC 6455 section 7.1.1).
        case closeTimedOut
    }

    /// When ``deadlinePassed(now:)`` wants to be called next; `nil` while there is nothing to wait for.
    public var deadline: Instant? {
        if state == .closing && report.sent != nil { return closeDeadline }
        if state == .closed { return nil }
        guard let messageDeadline else { return liveness.deadline }
        return liveness.deadline.map { min($0, messageDeadline) } ?? messageDeadline
    }

    /// When the message that is arriving must have come further.
    private var messageDeadline: Instant? { isMidMessage ? partial?.assembler.pace?.deadline : nil }

    /// Whether part of a message is held, so that ``deadline`` may have come nearer.
    public var holdsPartOfMessage: Bool { isMidMessage }

    /// Does what is due.
    public func deadlinePassed(now: Instant) -> TimeoutAction {
        if state == .closing, report.sent != nil, let closeDeadline, now >= closeDeadline { return .closeTimedOut }
        guard canSend else { return .none }
        if let messageDeadline, now >= messageDeadline {
            tap?.ended()
            stopListening()
            return .messageTimedOut(ProtocolError(.messageTimeout, "A message took longer than it may."))
        }
        switch liveness.deadlinePassed(now: now, lastHeard: lastHeard) {
        case .fine: return .none
        case .ping:
            // A connection without compressed messages for an interval gives back what it holds between them.
            compression?.restIfIdle()
            _ = ping(now: now)
            return .wrote
        case .silent(let duration):
            liveness.stop()
            return .keepaliveTimedOut(
                ProtocolError(.keepaliveTimeout, "The peer has been silent for \(duration.rounded) after a ping.")
            )
        }
    }

    /// What the round trips of the pings have shown so far, the app's among them.
    public var latency: Latency { roundTrips?.latency ?? Latency() }

    func record(_ roundTrip: Duration) {
        let roundTrips = roundTrips ?? RoundTrips()
        roundTrips.latency.record(roundTrip)
        self.roundTrips = roundTrips
    }

    /// Gives the message that is arriving its time anew: while this side doesn't read, its sender isn't the slow one.
    public func restartMessageTime(now: Instant) {
        if isMidMessage { partial?.assembler.pace?.restart(now: now) }
    }

    /// Gives the message that is arriving so much more time: the peer wasn't read for that long, as it was too fast.
    ///
    /// In all no more than ten times ``MessageLimits/messageTime``.
    public func excuseMessage(_ duration: Duration) {
        if isMidMessage { partial?.assembler.pace?.excuse(duration) }
    }

    /// Takes it that the peer is alive although nothing was heard: while this side doesn't read, silence says nothing.
    public func peerIsAlive(now: Instant) {
        lastHeard = now
    }
}
