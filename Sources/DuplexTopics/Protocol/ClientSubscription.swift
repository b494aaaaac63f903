// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The messages of a topic at a server; see ``TopicClient/subscribe(to:replay:)``.
///
/// An app's compiler sees the type, so that its loops call it directly.
@usableFromInline
struct ClientSubscription: AsyncSequence, Sendable {
    private let client: TopicClient
    private let name: String
    private let replay: TopicReplay

    @usableFromInline
    init(_ client: TopicClient, _ name: String, _ replay: TopicReplay) {
        self.client = client
        self.name = name
        self.replay = replay
    }

    @usableFromInline
    func makeAsyncIterator() -> AsyncIterator {
        let (name, replay) = (name, replay)
        let feed = ClientFeed<TopicMessage>(
            mostItems: client.options.messageLimit,
            mostBytes: client.options.messageSize.bytes
        )
        return AsyncIterator(
            ClientLease(client, feed) {
                $0.begin(name, replay, $1)
            } end: {
                $0.end(name, $1)
            }
        )
    }

    @usableFromInline
    struct AsyncIterator: AsyncIteratorProtocol {
        private let lease: ClientLease<TopicMessage>

        fileprivate init(_ lease: ClientLease<TopicMessage>) {
            self.lease = lease
        }

        @usableFromInline
        mutating func next(isolation actor: isolated (any Actor)?) async throws(TopicError) -> TopicMessage? {
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

/// Joins and leaves of a topic at a server; see ``TopicClient/presenceChanges(of:)``.
struct ClientPresenceChanges: AsyncSequence, Sendable {
    private let client: TopicClient
    private let topic: String

    init(_ client: TopicClient, _ topic: String) {
        self.client = client
        self.topic = topic
    }

    func makeAsyncIterator() -> AsyncIterator {
        let topic = topic
        let feed = ClientFeed<PresenceChange>(mostItems: 10_000, mostBytes: .max)
        return AsyncIterator(
            ClientLease(client, feed) {
                $0.beginWatch(topic, $1)
            } end: {
                $0.endWatch(topic, $1)
            }
        )
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let lease: ClientLease<PresenceChange>

        fileprivate init(_ lease: ClientLease<PresenceChange>) {
            self.lease = lease
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(TopicError) -> PresenceChange? {
            guard let (change, dropped) = try await lease.feed.next() else { return nil }
            if dropped > 0 { throw TopicError(.slowSubscriber, "More came and went than was taken.") }
            return change
        }
    }
}

/// A topic that is watched, as its client has it: who is known to be there, so that what happens without a connection is seen behind it.
struct ClientWatch: Sendable {
    /// The most members that are known: of more, only reported changes are passed on.
    static let memberLimit = 1_000

    let feed: ClientFeed<PresenceChange>
    private(set) var known: [String: PresenceMember]? = [:]

    init(_ feed: ClientFeed<PresenceChange>) {
        self.feed = feed
    }

    /// The server has reported a change.
    mutating func took(_ change: PresenceChange) {
        guard var members = known else { return give(change) }
        known = nil
        switch change {
        case .joined(let member):
            if members.updateValue(member, forKey: member.id) != member { give(change) }
        case .left(let member):
            if members.removeValue(forKey: member.id) != nil { give(change) }
        }
        if members.count <= Self.memberLimit { known = members }
    }

    /// The server has said who is there.
    mutating func listed(_ members: [PresenceMember], of count: Int) {
        guard count <= members.count else {
            known = nil
            return
        }
        let former = known ?? [:]
        let present = Dictionary(members.map { ($0.id, $0) }) { $1 }
        for member in former.values where present[member.id] == nil { give(.left(member)) }
        for member in members where former[member.id] != member { give(.joined(member)) }
        known = present
    }

    private func give(_ change: PresenceChange) {
        feed.put(change, size: 0)
    }
}
