// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Joins and leaves of a topic at a server; see ``TopicClient/presenceChanges(of:)``.
public struct ClientPresenceChanges: AsyncSequence, Sendable {
    private let client: TopicClient
    private let topic: String

    init(_ client: TopicClient, _ topic: String) {
        self.client = client
        self.topic = topic
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator {
        let topic = topic
        let feed = ClientFeed<PresenceChange>(mostItems: 10_000, mostBytes: .max)
        return Iterator(
            ClientLease(client, feed) {
                $0.beginWatch(topic, $1)
            } end: {
                $0.endWatch(topic, $1)
            }
        )
    }

    /// Iterates over the changes; stops watching when it is dropped, or its task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        private let lease: ClientLease<PresenceChange>

        fileprivate init(_ lease: ClientLease<PresenceChange>) {
            self.lease = lease
        }

        /// The next change; `nil` once the client is closed, or the task is cancelled.
        ///
        /// - Throws: ``TopicError``: the server's refusal, `limitReached` where the client watches the topic already,
        ///   `slowSubscriber` once more than 10,000 waited, `unavailable` when the client has given up.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TopicError) -> PresenceChange? {
            guard let (change, dropped) = try await lease.feed.next() else { return nil }
            if dropped > 0 { throw TopicError(.slowSubscriber, "More came and went than was taken.") }
            return change
        }
    }
}

/// A topic that is watched, as its client has it: who is known to be there, so that what happens without a connection is seen behind it.
struct ClientWatch: Sendable {
    /// The most members that are known: of more, only reported changes are passed on.
    static let mostMembers = 1_000

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
        if members.count <= Self.mostMembers { known = members }
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
