// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire

extension WebSocket {
    /// Sends the client the messages of a topic from now on.
    ///
    /// Texts go as texts, and bytes as bytes. What is published goes straight to the connection, without a task. A
    /// second subscription to the same topic replaces the first one: pending messages of that aren't sent, except those
    /// that `replay` asks for. It ends with the connection.
    ///
    /// - Parameters:
    ///   - topic: the topic, or a pattern. A message whose topic matches several subscriptions of the client comes by each.
    ///   - slow: what happens to messages for a client that is behind, by 64 KiB or more: nobody waits for it. With
    ///     `.wait` it gets missed messages from the history as it catches up, and is closed when they aren't kept any
    ///     more; without a history `.wait` is the same as `.end()`. A client that doesn't take the history that it
    ///     asked for is closed by the patience of `.end(after:patience:)` as well. Default: the connection is closed
    ///     once 1 MiB waits.
    ///   - replay: what is sent of the past; of a pattern nothing is. Default: nothing.
    ///   - closeCode: the code for a client that its policy closes. Default: 1013, try again later.
    ///   - missed: makes the message with the number of dropped messages, sent once the client has caught up. Default:
    ///     none.
    /// - Returns: the subscription.
    /// - Throws: ``TopicError`` with `invalidName`, with `invalidArgument`, with `limitReached`, or with `closed` when the connection has ended.
    @discardableResult
    public func subscribe(
        to topic: Topic,
        slow: SlowReaderPolicy<TopicMessage> = .end(),
        replay: TopicReplay = .none,
        closeCode: CloseCode = .tryAgainLater,
        missed: (@Sendable (Int) -> Message?)? = nil
    ) throws(TopicError) -> TopicSubscription {
        try TopicError.check(slow.durations)
        let terms = SubscriptionTerms.plain(topic.core, slow, closeCode, missed)
        let subscriber = try subscribe(to: topic.name, replay, terms)
        return TopicSubscription(subscriber, on: loop, topic.name)
    }

    /// Ends the subscription to a topic or a pattern; does nothing where there is none.
    public func unsubscribe(from topic: Topic) {
        unsubscribe(topic.core, topic.name)
    }

    /// Makes somebody present in a topic, until `leave(_:)` or the end of the connection.
    ///
    /// ```swift
    /// try socket.enter(room, as: "user-7", info: #"{"name":"Ada"}"#)
    /// ```
    ///
    /// A member with two connections counts once, and stays for ``TopicOptions/presenceGrace`` after the last one. A
    /// second call for the same topic replaces the first.
    ///
    /// - Parameters:
    ///   - topic: the topic; not a pattern.
    ///   - id: who it is, 256 bytes at most.
    ///   - info: what they say of themselves: a text, or an object or array of JSON; see
    ///     ``TopicOptions/memberInfoSize``. Default: nothing.
    /// - Throws: ``TopicError`` with `invalidName`, with `limitReached`, or with `closed` when the connection has
    ///   ended.
    public func enter(_ topic: Topic, as id: String, info: String = "") throws(TopicError) {
        try presence().enter(PresenceMember(id: id, info: info), topic.name, topic.core)
    }

    /// Leaves a topic; does nothing if the connection isn't in it.
    public func leave(_ topic: Topic) {
        (follower as? SocketPresence)?.leave(topic.name, topic.core)
    }
}
