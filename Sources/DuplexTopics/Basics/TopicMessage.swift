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
    package init(
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

/// The position of a message in the history of its topic, from which a subscriber can resume.
public struct TopicPosition: Sendable, Hashable {
    /// Distinguishes histories of a topic, such as that of the process before.
    public let epoch: String
    /// The number of the message; the first one of a history has 1.
    public let offset: UInt64

    /// Makes a position.
    ///
    /// - Parameters:
    ///   - epoch: random text without a hyphen.
    ///   - offset: the number of the message; 0 stands in front of the first.
    public init(epoch: String, offset: UInt64) {
        self.epoch = epoch
        self.offset = offset
    }
}

extension TopicPosition: LosslessStringConvertible {
    /// Reads what ``description`` has written.
    ///
    /// - Parameter description: `epoch-offset`; anything else gives `nil`.
    public init?(_ description: String) {
        let parts = description.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let offset = UInt64(parts[1]) else { return nil }
        self.init(epoch: String(parts[0]), offset: offset)
    }

    /// `epoch-offset`, as a server-sent event has it for its id.
    public var description: String { "\(epoch)-\(offset)" }
}

extension TopicPosition: Codable {
    /// Reads a position that was kept, as its text.
    ///
    /// - Parameter decoder: has the text of ``description``.
    /// - Throws: `DecodingError`, also for a text that is no position.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let position = TopicPosition(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is no position.")
        }
        self = position
    }

    /// Writes ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The earlier messages that a new subscriber gets.
public enum TopicReplay: Sendable, Hashable {
    /// Nothing.
    case none
    /// So many of the last kept messages; with 1, the retained value.
    case last(Int)
    /// Those after a message, each once; see ``TopicSubscription/isComplete``.
    case after(TopicPosition)
}
