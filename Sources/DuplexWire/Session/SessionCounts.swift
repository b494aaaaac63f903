// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What has gone over a connection so far.
///
/// Messages count when they are whole, with the bytes that the app sees: of a compressed one those before deflating and
/// behind inflating. A value: a copy stays as it was.
public struct SessionCounts: Sendable, Hashable {
    /// Messages that have arrived whole.
    public var messagesReceived = 0
    /// Messages that were sent.
    public var messagesSent = 0
    /// The bytes of the messages that have arrived.
    public var bytesReceived = 0
    /// The bytes of the messages that were sent.
    public var bytesSent = 0
    /// Pings, pongs and close frames that have arrived.
    public var controlFramesReceived = 0
    /// Pings, pongs and close frames that were sent.
    public var controlFramesSent = 0

    /// Nothing yet.
    public init() {}

    /// What came to it since an earlier look.
    ///
    /// - Parameter earlier: what had gone over the same connection by then.
    /// - Returns: the difference.
    public func since(_ earlier: SessionCounts) -> SessionCounts {
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

extension Session {
    /// What has gone over the connection so far.
    public var counts: SessionCounts {
        var counts = SessionCounts()
        counts.messagesReceived = messagesIn
        counts.messagesSent = messagesOut
        counts.bytesReceived = bytesIn
        counts.bytesSent = bytesOut
        counts.controlFramesReceived = Int(controlFramesIn)
        counts.controlFramesSent = Int(controlFramesOut)
        return counts
    }

    /// When the first message had arrived whole; `nil` before.
    public var firstMessage: Instant? { messagesIn > 0 ? firstMessageAt : nil }

    /// When the peer was last heard of.
    public var lastHeardOf: Instant { lastHeard }

    /// Takes note of a message that has arrived whole.
    @inline(__always)
    func countArrived(_ bytes: Int, _ now: Instant) {
        if messagesIn == 0 { firstMessageAt = now }
        messagesIn &+= 1
        bytesIn &+= bytes
    }

    /// Takes note of a message that is sent.
    @inline(__always)
    func countSent(_ bytes: Int) {
        messagesOut &+= 1
        bytesOut &+= bytes
    }

    /// Takes back that a message counts as sent: the system has refused it.
    package func takeBackSent(_ bytes: Int) {
        messagesOut &-= 1
        bytesOut &-= bytes
    }
}
