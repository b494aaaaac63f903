// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire

extension WebSocket {
    /// Sends the client what is published to a topic from now on, as it is published.
    ///
    /// Texts go as texts, and bytes as bytes. What is published goes straight to the connection, without a task. A second
    /// subscription to the same topic takes the place of the first one: what waits for that, or is on its way to it, isn't sent,
    /// but for what `replay` asks for. It ends with the connection.
    ///
    /// - Parameters:
    ///   - topic: the topic, or a pattern. A message whose topic matches several subscriptions of the client comes by each.
    ///   - slow: what becomes of messages for a client that is behind, by 64 KiB or more: nobody else waits for it. With
    ///     `.wait` it is given what the topic's history has as it catches up, and closed when that hasn't what it lacks;
    ///     without a history that is as `.end()`. A client that takes nothing of the past that it asked for is closed by
    ///     the patience of `.end(after:patience:)` as well. Default: the connection is closed once 1 MiB waits.
    ///   - replay: what is sent of the past; of a pattern nothing is. Default: nothing.
    ///   - closeCode: what a client is closed with that its policy ends. Default: 1013, try again later.
    ///   - missed: makes the message that a client is told by how many were dropped, once it has caught up. Default: it isn't
    ///     told.
    /// - Returns: the subscription.
    /// - Throws: ``TopicError`` with `invalidName`, with `limitReached`, or with `closed` when the connection has ended.
    @discardableResult
    public func subscribe(
        to topic: Topic,
        slow: SlowReaderPolicy<TopicMessage> = .end(),
        replay: TopicReplay = .none,
        closeCode: CloseCode = .tryAgainLater,
        missed: (@Sendable (Int) -> Message?)? = nil
    ) throws(TopicError) -> TopicSubscription {
        let terms = SubscriptionTerms.plain(topic.core, slow, closeCode, missed)
        let subscriber = try subscribe(to: topic.name, replay, terms)
        return TopicSubscription(subscriber, on: loop, topic.name)
    }

    /// Ends the subscription to a topic or a pattern; does nothing where there is none.
    public func unsubscribe(from topic: Topic) {
        unsubscribe(topic.core, topic.name)
    }
}
