// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
        /// The closing handshake took too long: end the transport (RFC 6455 section 7.1.1).
        case closeTimedOut
    }

    /// When ``deadlinePassed(now:)`` wants to be called next; `nil` while there is nothing to wait for.
    public var deadline: Instant? {
        state == .closing && report.sent != nil ? closeDeadline : (state == .closed ? nil : liveness.deadline)
    }

    /// Does what is due.
    public func deadlinePassed(now: Instant) -> TimeoutAction {
        if state == .closing, report.sent != nil, let closeDeadline, now >= closeDeadline { return .closeTimedOut }
        guard canSend else { return .none }
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
                ProtocolError(.keepaliveTimeout, "The peer has been silent for \(duration) after a ping.")
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

    /// Takes it that the peer is alive although nothing was heard: while this side doesn't read, silence says nothing.
    public func peerIsAlive(now: Instant) {
        lastHeard = now
    }
}
