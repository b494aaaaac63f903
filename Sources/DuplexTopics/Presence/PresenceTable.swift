// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Who is present in which topics by this node, and who watches them.
///
/// A value behind the lock of PresenceHub.
struct PresenceTable: Sendable {
    private struct Room: Sendable {
        var roster: PresenceRoster<UInt64>
        var watchers: [ObjectIdentifier: PresenceWatcher] = [:]
        /// Whether it is among those that have a deadline.
        var isQueued = false

        init(_ grace: Duration) {
            roster = PresenceRoster(grace: grace)
        }
    }

    /// What is to be said to other machines.
    enum Call: Sendable, Hashable {
        case changed(PresenceChange, String)
        case watched(String, Bool)
    }

    private let options: TopicOptions
    /// Whether changes are reported by other machines, and not from here.
    private let isJoined: Bool
    private var rooms: [String: Room] = [:]
    /// Each topic once at most that has somebody whose grace runs.
    private var deadlines = DeadlineHeap<String>()
    private var lastHolder: UInt64 = 0
    /// How many members there are in all topics.
    private(set) var memberCount = 0
    private(set) var watcherCount = 0
    /// What is to be said, in its order.
    private(set) var calls: [Call] = []

    init(_ options: TopicOptions, isJoined: Bool) {
        self.options = options
        self.isJoined = isJoined
    }

    /// How many topics are known.
    var roomCount: Int { rooms.count }

    /// When expire(at:) has something to do.
    var deadline: Instant? { deadlines.first }

    func count(of topic: String) -> Int { rooms[topic]?.roster.count ?? 0 }

    func members(of topic: String, limit: Int) -> [PresenceMember] { rooms[topic]?.roster.members(limit: limit) ?? [] }

    /// A number that no other holder has.
    mutating func makeHolder() -> UInt64 {
        lastHolder += 1
        return lastHolder
    }

    // MARK: Coming and going

    /// - Returns: those who are to be woken.
    mutating func enter(
        _ member: PresenceMember,
        by holder: UInt64,
        in topic: String
    ) throws(TopicError) -> [PresenceWatcher] {
        try check(member, topic)
        let before = count(of: topic)
        let change = rooms[topic, default: Room(options.presenceGrace)].roster.enter(member, by: holder)
        memberCount += count(of: topic) - before
        return change.map { changed($0, topic) } ?? []
    }

    private func check(_ member: PresenceMember, _ topic: String) throws(TopicError) {
        guard member.id.utf8.count <= TopicName.longest else {
            throw TopicError(.limitReached, "The name of the member is longer than \(TopicName.longest) bytes.")
        }
        guard member.info.utf8.count <= options.memberInfoSize.bytes else {
            let limit = options.memberInfoSize
            throw TopicError(.limitReached, "What the member says of itself is longer than \(limit).")
        }
        if let room = rooms[topic] {
            if room.roster.contains(member.id) { return }
        } else {
            try Self.checkName(topic)
        }
        guard memberCount < options.memberLimit else {
            throw TopicError(.limitReached, "There are \(memberCount) members, which is the limit.")
        }
    }

    static func checkName(_ topic: String) throws(TopicError) {
        guard try !TopicError.check(topic) else {
            throw TopicError(.invalidName, "Nobody is present in a pattern.")
        }
    }

    /// Whether a member is there by a holder.
    func isHeld(_ id: String, by holder: UInt64, in topic: String) -> Bool {
        rooms[topic]?.roster.isHeld(id, by: holder) ?? false
    }

    /// - Returns: those who are to be woken.
    mutating func leave(_ id: String, by holder: UInt64, in topic: String, at now: Instant) -> [PresenceWatcher] {
        guard rooms[topic] != nil else { return [] }
        let change = rooms[topic]?.roster.leave(id, by: holder, at: now)
        queue(topic)
        guard let change else { return [] }
        defer { forgetIfIdle(topic) }
        return changed(change, topic)
    }

    /// Removes all whose grace is over.
    ///
    /// - Returns: those who are to be woken.
    mutating func expire(at now: Instant) -> [PresenceWatcher] {
        var woken: [PresenceWatcher] = []
        while let topic = deadlines.popFirst(dueAt: now) {
            rooms[topic]?.isQueued = false
            for change in rooms[topic]?.roster.expire(at: now) ?? [] { woken += changed(change, topic) }
            queue(topic)
            forgetIfIdle(topic)
        }
        return woken
    }

    private mutating func queue(_ topic: String) {
        guard let room = rooms[topic], !room.isQueued, let deadline = room.roster.deadline else { return }
        rooms[topic]?.isQueued = true
        deadlines.insert(topic, at: deadline)
    }

    private mutating func changed(_ change: PresenceChange, _ topic: String) -> [PresenceWatcher] {
        if case .left = change { memberCount -= 1 }
        guard isJoined else { return tell(change, topic) }
        calls.append(.changed(change, topic))
        return []
    }

    private mutating func forgetIfIdle(_ topic: String) {
        if let room = rooms[topic], room.roster.count == 0, room.watchers.isEmpty { rooms[topic] = nil }
    }

    // MARK: Watching

    /// Puts a change in for all who watch.
    ///
    /// - Returns: those who are to be woken.
    func tell(_ change: PresenceChange, _ topic: String) -> [PresenceWatcher] {
        guard let watchers = rooms[topic]?.watchers, !watchers.isEmpty else { return [] }
        let notice = PresenceNotice(topic, change)
        return watchers.values.filter { $0.put(notice) }
    }

    mutating func watch(_ watcher: PresenceWatcher, _ topic: String) throws(TopicError) {
        guard watcherCount < options.subscriptionLimit else {
            throw TopicError(.limitReached, "There are \(watcherCount) who watch presence, which is the limit.")
        }
        if rooms[topic] == nil { try Self.checkName(topic) }
        rooms[topic, default: Room(options.presenceGrace)].watchers[ObjectIdentifier(watcher)] = watcher
        watcherCount += 1
        if isJoined, rooms[topic]?.watchers.count == 1 { calls.append(.watched(topic, true)) }
    }

    mutating func unwatch(_ watcher: PresenceWatcher, _ topic: String) {
        guard rooms[topic]?.watchers.removeValue(forKey: ObjectIdentifier(watcher)) != nil else { return }
        watcherCount -= 1
        if isJoined, rooms[topic]?.watchers.isEmpty == true { calls.append(.watched(topic, false)) }
        forgetIfIdle(topic)
    }

    /// Takes out what is to be said to other machines.
    mutating func takeCalls() -> [Call] {
        defer { calls = [] }
        return calls
    }
}

/// What is due when, the earliest first.
struct DeadlineHeap<Element: Sendable>: Sendable {
    private var items: [(deadline: Instant, element: Element)] = []

    /// The earliest deadline.
    var first: Instant? { items.first?.deadline }

    var count: Int { items.count }

    mutating func insert(_ element: Element, at deadline: Instant) {
        items.append((deadline, element))
        var place = items.count - 1
        while place > 0, items[place].deadline < items[(place - 1) / 2].deadline {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes out the earliest one if it is due.
    mutating func popFirst(dueAt now: Instant) -> Element? {
        guard let first = items.first, first.deadline <= now else { return nil }
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var place = 0
        while let child = earlierChild(of: place), items[child].deadline < items[place].deadline {
            items.swapAt(place, child)
            place = child
        }
        return first.element
    }

    private func earlierChild(of place: Int) -> Int? {
        let left = 2 * place + 1
        guard left < items.count else { return nil }
        let right = left + 1
        return right < items.count && items[right].deadline < items[left].deadline ? right : left
    }
}
