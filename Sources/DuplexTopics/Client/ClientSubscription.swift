// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The messages of a topic at a server; see ``TopicClient/subscribe(to:replay:)``.
///
/// It subscribes when it is iterated, once at a time. Each message that the server keeps comes once, however often the
/// connection is lost; if some are missing, ``TopicMessage/isAfterGap`` is true.
public struct ClientSubscription: AsyncSequence, Sendable {
    private let client: TopicClient
    private let name: String
    private let replay: TopicReplay

    init(_ client: TopicClient, _ name: String, _ replay: TopicReplay) {
        self.client = client
        self.name = name
        self.replay = replay
    }

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let (name, replay) = (name, replay)
        let feed = ClientFeed<TopicMessage>(
            mostItems: client.options.mostMessages,
            mostBytes: client.options.messageSize.bytes
        )
        return Iterator(
            ClientLease(client, feed) {
                $0.begin(name, replay, $1)
            } end: {
                $0.end(name, $1)
            }
        )
    }

    /// Iterates over the messages; unsubscribes when it is dropped, or its task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        private let lease: ClientLease<TopicMessage>

        fileprivate init(_ lease: ClientLease<TopicMessage>) {
            self.lease = lease
        }

        /// The next message; `nil` once the client is closed, or the task is cancelled.
        ///
        /// - Throws: ``TopicError``: the server's refusal, `limitReached` where the client has a subscription to some
        ///   of it already, `unavailable` when the client has given up.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TopicError) -> TopicMessage? {
            guard let (message, dropped) = try await lease.feed.next() else { return nil }
            return dropped == 0 ? message : message.behind(dropped)
        }
    }
}

/// A subscription as its client has it.
struct ClientTopic: Sendable {
    let feed: ClientFeed<TopicMessage>
    /// What it asks for at first.
    let replay: TopicReplay
    /// The last message that has come, or where it begins; `nil` where nothing is kept.
    var position: TopicPosition?
    /// Whether the server has ever said yes.
    var isBegun = false
    /// Whether it has on this connection: what comes before its answer is of a subscription before it.
    var isLive = false
    /// What the next message carries.
    var isAfterGap = false
    /// Whether the next message is after a gap unless its offset is the very next one: the server didn't know what is kept.
    var isUnsure = false
    var missed = 0

    /// What it asks for now.
    var wish: TopicReplay { position.map { .after($0) } ?? (isBegun ? .none : replay) }

    /// The server has said yes.
    mutating func begins(_ reply: TopicReply) {
        let former = position ?? Self.position(replay)
        defer {
            (isBegun, isLive) = (true, true)
            position = reply.place ?? former
        }
        guard let place = reply.place else {
            // Nothing is kept, or the server can't reach what is: what was published while there was no connection may be lost.
            isUnsure = isBegun || former != nil
            return
        }
        if reply.complete == false {
            isAfterGap = true
            if let former, former.epoch == place.epoch, place.offset > former.offset {
                missed = TopicMessage.sum(missed, Int(clamping: place.offset - former.offset))
            }
        } else if isBegun, former == nil {
            isAfterGap = true
        }
    }

    private static func position(_ replay: TopicReplay) -> TopicPosition? {
        if case .after(let position) = replay { position } else { nil }
    }

    /// A message has come.
    ///
    /// - Returns: the message as it is given on; `nil` for one that has come before.
    mutating func took(_ topic: String, _ message: Message, _ place: TopicPosition?, isPattern: Bool) -> TopicMessage? {
        guard isLive else { return nil }
        if !isPattern, let place {
            if let position, position.epoch == place.epoch {
                if place.offset <= position.offset { return nil }
                if place.offset == position.offset + 1 { isUnsure = false }
            }
            position = place
        }
        defer { (missed, isAfterGap, isUnsure) = (0, false, false) }
        let isBehindGap = isAfterGap || isUnsure
        return TopicMessage(topic: topic, message: message, position: place, missed: missed, isAfterGap: isBehindGap)
    }
}
