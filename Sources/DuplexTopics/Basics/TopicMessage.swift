// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// A message of a topic, as a subscriber gets it.
public struct TopicMessage: Sendable, Hashable {
    /// The name of the topic that it was published to.
    public let topic: String
    /// What was published.
    public let message: Message
    /// Where it stands in the history of its topic; `nil` where none is kept.
    public let position: TopicPosition?
    /// How many messages were dropped between the one before and this one, because the subscriber was behind.
    public let missed: Int

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - topic: the name.
    ///   - message: what was published.
    ///   - position: where it stands. Default: none.
    ///   - missed: how many were dropped before it. Default: none.
    public init(topic: String, message: Message, position: TopicPosition? = nil, missed: Int = 0) {
        self.topic = topic
        self.message = message
        self.position = position
        self.missed = missed
    }

    /// The text; that of a binary message with what isn't UTF-8 replaced.
    public var text: String {
        switch message {
        case .text(let text): text
        case .binary(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}
