// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What sessions are made with: one for all connections that are made alike, which then hold no copy of it.
package final class SessionSettings: Sendable {
    /// The most messages that wait for the app.
    package let inboxMessages: Int
    /// The most bytes of messages that wait for the app.
    package let inboxBytes: ByteCount
    /// How long a closing handshake may take.
    package let closeTimeout: Duration
    let limits: AssemblyLimits
    let pings: PingTimes
    /// How many frames ``WebSocketSession/nextEvent(in:at:now:)`` begins at one instant.
    let frames: Int32

    /// The most frames of one connection that are parsed in a turn: those who send empty ones keep the others waiting for
    /// some twenty microseconds each.
    package static let framesPerTurn: Int32 = 512

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - limits: what the peer may make this side hold.
    ///   - pings: when to ping. Default: a ping every 20 s, and 20 s for its pong.
    ///   - closeTimeout: how long a closing handshake may take. Default: 10 s.
    ///   - frames: how many frames are begun at one instant, as ``WebSocketSession/beginTurn()`` says. Default: those of a turn.
    package init(
        limits: MessageLimits = .internet,
        pings: PingPolicy = .every(.seconds(20), timeout: .seconds(20)),
        closeTimeout: Duration = .seconds(10),
        frames: Int32 = SessionSettings.framesPerTurn
    ) {
        self.frames = frames
        inboxMessages = limits.inboxMessages
        inboxBytes = limits.inboxBytes
        self.closeTimeout = closeTimeout
        self.limits = AssemblyLimits(limits)
        self.pings = PingTimes(pings)
    }
}

/// A ``PingPolicy`` in nanoseconds.
final class PingTimes: Sendable {
    /// The first interval, and the one when the line is bad; 0 for no pings.
    let shortest: Int64
    let longest: Int64
    let timeout: Int64

    init(_ pings: PingPolicy) {
        shortest = pings.interval?.wholeNanoseconds ?? 0
        longest = pings.longestInterval?.wholeNanoseconds ?? 0
        timeout = pings.timeout.wholeNanoseconds
    }
}

/// What has gone over a connection so far.
///
/// Messages count when they are whole, with the bytes that the app sees: of a compressed one those before deflating and
/// behind inflating. A value: a copy stays as it was.
package struct SessionCounts: Sendable, Hashable {
    /// Messages that have arrived whole.
    package var messagesReceived = 0
    /// Messages that were sent.
    package var messagesSent = 0
    /// The bytes of the messages that have arrived.
    package var bytesReceived = 0
    /// The bytes of the messages that were sent.
    package var bytesSent = 0
    /// Pings, pongs and close frames that have arrived.
    package var controlFramesReceived = 0
    /// Pings, pongs and close frames that were sent.
    package var controlFramesSent = 0

    /// Nothing yet.
    package init() {}

    /// What came to it since an earlier look.
    ///
    /// - Parameter earlier: what had gone over the same connection by then.
    /// - Returns: the difference.
    package func since(_ earlier: SessionCounts) -> SessionCounts {
        var counts = self
        counts.messagesReceived -= earlier.messagesReceived
        counts.messagesSent -= earlier.messagesSent
        counts.bytesReceived -= earlier.bytesReceived
        counts.bytesSent -= earlier.bytesSent
        counts.controlFramesReceived -= earlier.controlFramesReceived
        counts.controlFramesSent -= earlier.controlFramesSent
        return counts
    }
}
