// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
/// The earlier messages that a new subscriber gets.
public enum TopicReplay: Sendable, Hashable {
    /// Nothing.
    case none
    /// So many of the last kept messages; with 1, the retained value.
    case last(Int)
    /// Those after a message, each once; see ``TopicSubscription/isComplete``.
    case after(TopicPosition)
}
