// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// Joins the topics of several machines: their messages, histories and presence.
///
/// ``TopicBackplane`` has those for Redis and for one process. Write your own, for ``TopicBackplane/custom(_:)``, for any system
/// that can number the messages of a topic and deliver them to all subscribers.
///
/// Each ``Topics`` is a node with one backplane, and its only caller. Nothing here may block: calls come from event
/// loops and from publishers, also several at once. The listener may be called from any thread; the calls for one
/// subscription are in order.
///
/// The guarantee of a backplane: messages of one topic are numbered without a gap where they are kept; every subscribed
/// node gets them in that order, its own too; ``BackplaneListener/interrupted(_:)`` reports what it may have missed.
public protocol Backplane: AnyObject, Sendable {
    /// Begins, and calls the listener from then on. Called once.
    ///
    /// - Parameter listener: the node's, which isn't to be kept: it keeps the backplane.
    func start(_ listener: any BackplaneListener)

    /// Ends it: the listener isn't called any more, and pending completions get `unavailable`. Twice is the same as
    /// once.
    func close() async

    /// Publishes a message to all nodes that are subscribed, also this one.
    ///
    /// Messages of one call behind the other to one topic keep their order. While the others can't be reached, a
    /// message waits in the bounds of the backplane, or its completion gets `unavailable`.
    ///
    /// - Parameters:
    ///   - message: the message; its position is given to it here.
    ///   - history: how much of the topic is kept; `nil` for nothing, and then it has no position.
    ///   - completion: called once with the result: its position, `nil` where nothing is kept.
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
    /// It comes behind the messages in it: those that were published since ``BackplaneListener/subscribed(_:)`` have been reported by
    /// ``BackplaneListener/received(_:by:)`` before this returns. So it is known which of them are news.
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

    /// Removes a member of this node.
    func leave(_ id: String, in topic: String)

    /// Reports joins and leaves of a topic to the listener, until it is called with `false`.
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

/// The callbacks of a backplane.
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
    /// Its position in the history of its topic; `nil` without a history, and before it is published.
    public var position: TopicPosition?
    /// The node that has published it.
    public var origin: String
    /// Its number among those that the origin has published to this topic, from 1; a repeated message has the same
    /// number, so that it is delivered once.
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

/// The history of a topic.
public struct BackplaneHistory: Sendable, Hashable {
    /// The position of the last message, with offset 0 when there has been none; its epoch shows whether the numbers
    /// are still those that a node knows.
    public var position: TopicPosition
    /// Those that were asked for and are kept, in order, without a gap.
    public var messages: [BackplaneMessage]

    /// Makes a value.
    public init(position: TopicPosition, messages: [BackplaneMessage]) {
        self.position = position
        self.messages = messages
    }

    /// Whether its numbers are some that can be counted on from.
    var isSound: Bool {
        position.offset < .max && messages.allSatisfy { (1..<UInt64.max).contains($0.position?.offset ?? 0) }
    }
}

/// The state of a backplane.
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
