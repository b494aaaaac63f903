// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The outcomes of messages so far.
public struct TopicCounts: Sendable, Hashable {
    /// How many were published.
    public var published = 0
    /// How many times one went to a connection, to an event stream, where it may wait in its queue, or to code.
    public var delivered = 0
    /// How many times one was dropped, because its subscriber was behind.
    public var dropped = 0
    /// How many subscriptions were ended, because their subscribers were behind.
    public var ended = 0

    /// Makes counts.
    ///
    /// - Parameters:
    ///   - published: how many were published. Default: none.
    ///   - delivered: how many times one was delivered. Default: none.
    ///   - dropped: how many times one was dropped. Default: none.
    ///   - ended: how many subscriptions were ended. Default: none.
    public init(published: Int = 0, delivered: Int = 0, dropped: Int = 0, ended: Int = 0) {
        self.published = published
        self.delivered = delivered
        self.dropped = dropped
        self.ended = ended
    }

    static func += (counts: inout TopicCounts, others: TopicCounts) {
        counts.published += others.published
        counts.delivered += others.delivered
        counts.dropped += others.dropped
        counts.ended += others.ended
    }
}
