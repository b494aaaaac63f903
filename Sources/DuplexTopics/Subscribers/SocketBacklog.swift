// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// What waits for a subscription whose client is behind, and what was dropped for it; made when that is needed first.
final class SocketBacklog {
    /// All that waits for one connection.
    final class Connection {
        fileprivate(set) var size = 0
    }

    /// When the client is looked at for whether it has been behind for too long.
    var timer: TimerID?
    /// Since when it has taken nothing of the history that it is to be given.
    var stalledSince: Instant?
    /// How many messages were dropped, and how many of them were reported to the client.
    private(set) var dropped = 0
    var told = 0
    let connection: Connection
    private var queue: SlowReaderQueue<TopicEntry>?

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Whether something waits.
    var isWaiting: Bool { queue != nil }

    /// When the client is to be ended, unless it has caught up before.
    func deadline(_ patience: Duration?) -> Instant? {
        if let queue { return queue.deadline }
        return patience.flatMap { stalledSince?.advanced(by: $0) }
    }

    /// Counts messages that are dropped.
    func drop(_ count: Int) {
        dropped += count
    }

    /// Has a message wait, or what else the policy says; so many bytes may wait for the connection.
    ///
    /// - Returns: whether the client may stay.
    func keep(_ entry: TopicEntry, _ policy: SlowReaderPolicy<TopicMessage>, _ bound: Int, at now: Instant) -> Bool {
        guard makeRoom(for: entry.size, policy, max(bound, policy.size.bytes)) else {
            if policy.drops { dropped += 1 }
            return policy.drops
        }
        let key = policy.hasKeys ? policy.key(of: entry.topicMessage()) : nil
        if queue == nil { queue = SlowReaderQueue(policy.isWaiting ? .end() : policy) }
        let before = (queue?.byteCount ?? 0, queue?.dropped ?? 0)
        let outcome = queue?.append(entry, size: entry.size, key: key, at: now)
        connection.size += (queue?.byteCount ?? 0) - before.0
        dropped += (queue?.dropped ?? 0) - before.1
        return outcome == .kept || outcome == .leftOut
    }

    /// Makes room in what may wait for the connection; one message alone may be longer.
    private func makeRoom(for size: Int, _ policy: SlowReaderPolicy<TopicMessage>, _ bound: Int) -> Bool {
        if policy.drops, !policy.dropsNewest {
            while connection.size > 0, size > bound - connection.size, pop() != nil { dropped += 1 }
        }
        return connection.size == 0 || size <= bound - connection.size
    }

    private func pop() -> TopicEntry? {
        guard let entry = queue?.popFirst() else { return nil }
        connection.size -= entry.size
        return entry
    }

    /// Takes out what has waited longest; once nothing waits any more, `nil`.
    func popFirst() -> TopicEntry? {
        if let entry = pop() { return entry }
        queue = nil
        return nil
    }

    /// Takes out all that waits.
    func removeAll() {
        while pop() != nil {}
        queue = nil
        stalledSince = nil
    }
}
