// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// A message of a topic, as a subscriber gets it.
public struct TopicMessage: Sendable, Hashable {
    /// The name of the topic that it was published to.
    public let topic: String
    /// What was published.
    public let message: Message
    /// Its position in the history of its topic; `nil` without a history.
    public let position: TopicPosition?
    /// How many messages were dropped between the one before and this one, because the subscriber was behind.
    public let missed: Int
    /// Whether messages may be missing between the one before and this one: ``missed`` of them, where their number is known.
    ///
    /// A ``TopicClient`` says so after a lost connection where it couldn't go on where it was.
    public let isAfterGap: Bool

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - topic: the name.
    ///   - message: what was published.
    ///   - position: where it stands. Default: none.
    ///   - missed: how many were dropped before it. Default: none.
    ///   - isAfterGap: whether messages may be missing before it. Default: where some were dropped.
    public init(
        topic: String,
        message: Message,
        position: TopicPosition? = nil,
        missed: Int = 0,
        isAfterGap: Bool = false
    ) {
        self.topic = topic
        self.message = message
        self.position = position
        self.missed = missed
        self.isAfterGap = isAfterGap || missed > 0
    }

    /// The sum of two counts, of which a server may have said anything.
    static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    /// The same behind so many more that were dropped.
    func behind(_ count: Int) -> TopicMessage {
        TopicMessage(
            topic: topic,
            message: message,
            position: position,
            missed: Self.sum(missed, count),
            isAfterGap: true
        )
    }

    /// The text; that of a binary message with what isn't UTF-8 replaced.
    public var text: String {
        switch message {
        case .text(let text): text
        case .binary(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}
