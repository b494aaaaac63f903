// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// What joins the topics of several machines: messages, what is kept of them, and who is present.
///
/// ``MemoryBackplane`` joins those of one process, and Redis those of many machines. Write one of your own for anything that can
/// number the messages of a topic and hand them to all that subscribe.
///
/// Each ``Topics`` is a node with one backplane, and its only caller. Nothing here may block: calls come from event loops and
/// from publishers, also several at once. What is told to the listener may be told from any thread, of one subscription in order.
///
/// What a backplane promises: messages of one topic are numbered without a gap where they are kept; every node that is
/// subscribed gets them in that order, its own too; what it may have missed it is told of by
/// ``BackplaneListener/interrupted(_:)``.
public protocol Backplane: AnyObject, Sendable {
    /// Begins, and tells the listener from then on what happens. Called once.
    ///
    /// - Parameter listener: the node's, which isn't to be kept: it keeps the backplane.
    func start(_ listener: any BackplaneListener)

    /// Ends it: nothing is told any more, and completions that are left get `unavailable`. Twice is the same as once.
    func close() async

    /// Publishes a message to all nodes that are subscribed, also this one.
    ///
    /// Messages of one call behind the other to one topic keep their order. While the others can't be reached, a message waits in the
    /// bounds of the backplane, or its completion is told `unavailable`.
    ///
    /// - Parameters:
    ///   - message: the message; its position is given to it here.
    ///   - history: how much of the topic is kept; `nil` for nothing, and then it has no position.
    ///   - completion: told once what became of it: where it stands, `nil` where nothing is kept.
    func publish(
        _ message: BackplaneMessage,
        keeping history: TopicOptions.History?,
        _ completion: @escaping @Sendable (Result<TopicPosition?, TopicError>) -> Void
    )

    /// Subscribes this node to a topic or a pattern, until ``unsubscribe(from:)``, and again by itself whenever the others can be
    /// reached again. A name is subscribed to once at most.
    func subscribe(to name: String)

    /// Whether patterns can be subscribed to. Default: they can.
    var supportsPatterns: Bool { get }

    /// Ends the subscription to a topic or a pattern.
    func unsubscribe(from name: String)

    /// What is kept of a topic behind a number.
    ///
    /// - Parameters:
    ///   - topic: its name.
    ///   - number: the offset behind which it begins; 0 for all that is kept.
    /// - Returns: messages that follow each other without a gap, up to the last that is kept.
    /// - Throws: ``TopicError`` with `unavailable`.
    func history(of topic: String, behind number: UInt64) async throws(TopicError) -> BackplaneHistory

    /// Says that somebody is present in a topic, by this node. Twice is the same as once, with the newer info.
    ///
    /// A node that is gone without a word has its members removed after a time.
    func enter(_ member: PresenceMember, in topic: String)

    /// Says that somebody isn't present by this node any more.
    func leave(_ id: String, in topic: String)

    /// Has the listener told who comes to a topic and goes, until it is called with `false`.
    func watchPresence(in topic: String, _ isWatched: Bool)

    /// Who is present in a topic by any node, each once.
    ///
    /// - Parameters:
    ///   - topic: its name.
    ///   - limit: the most that are returned.
    /// - Returns: the members, in any order.
    /// - Throws: ``TopicError`` with `unavailable`.
    func members(of topic: String, limit: Int) async throws(TopicError) -> [PresenceMember]

    /// How many are present in a topic by any node, each counted once.
    ///
    /// - Parameter topic: its name.
    /// - Returns: the number.
    /// - Throws: ``TopicError`` with `unavailable`.
    func memberCount(of topic: String) async throws(TopicError) -> Int
}

extension Backplane {
    /// Patterns can be subscribed to.
    public var supportsPatterns: Bool { true }
}

/// A node, as its backplane tells it what happens.
public protocol BackplaneListener: AnyObject, Sendable {
    /// A message has come by a subscription: of a topic, or of a pattern that its topic matches.
    func received(_ message: BackplaneMessage, by subscription: String)

    /// A subscription holds: at first, and each time behind ``interrupted(_:)``. What is published from now on comes.
    func subscribed(_ name: String)

    /// A subscription is interrupted: what is published until ``subscribed(_:)`` may be missed.
    func interrupted(_ name: String)

    /// Somebody has come to a topic, or gone.
    func presenceChanged(_ change: PresenceChange, in topic: String)

    /// Where the backplane stands: at first, and each time that changes.
    func changed(_ state: BackplaneState)
}

/// A message on its way between nodes.
public struct BackplaneMessage: Sendable, Hashable {
    /// The name of its topic.
    public var topic: String
    /// What was published.
    public var message: Message
    /// Where it stands in the history of its topic; `nil` where none is kept, and before it is published.
    public var position: TopicPosition?
    /// The node that has published it.
    public var origin: String
    /// Its number among those that the origin has published to this topic, from 1; what is sent again has the same, so that it comes
    /// once.
    public var number: UInt64

    /// Makes a message.
    public init(topic: String, message: Message, position: TopicPosition? = nil, origin: String, number: UInt64) {
        self.topic = topic
        self.message = message
        self.position = position
        self.origin = origin
        self.number = number
    }
}

/// What is kept of a topic.
public struct BackplaneHistory: Sendable, Hashable {
    /// Where the last message stands, with offset 0 when there has been none; its epoch tells whether the numbers are still those that
    /// a node knows.
    public var position: TopicPosition
    /// Those that were asked for and are kept, in order, without a gap.
    public var messages: [BackplaneMessage]

    /// Makes a value.
    public init(position: TopicPosition, messages: [BackplaneMessage]) {
        self.position = position
        self.messages = messages
    }
}

extension BackplaneHistory {
    /// Whether its numbers are some that can be counted on from.
    var isSound: Bool {
        position.offset < .max && messages.allSatisfy { (1..<UInt64.max).contains($0.position?.offset ?? 0) }
    }
}

/// Where a backplane stands.
public enum BackplaneState: Sendable, Hashable {
    /// It tries to reach the others: for the first time since it could, or again.
    case connecting(attempt: Int)
    /// The others can be reached.
    case connected
    /// They can't, and the next attempt follows; why.
    case away(TopicError)
    /// It has ended.
    case closed
}
