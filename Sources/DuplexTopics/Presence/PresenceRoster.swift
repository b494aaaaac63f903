// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWire

/// Who is present in one topic: members, who holds each of them there, and who is there for a grace behind its last holder.
///
/// A holder is a connection of a node, or a node among others. The time is handed in.
struct PresenceRoster<Holder: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var info: String
        /// Most have one.
        var holder: Holder?
        var others: Set<Holder> = []
        /// The number of its wait without a holder; 0 for none.
        var wait: UInt64 = 0

        mutating func add(_ new: Holder) {
            if holder == nil { holder = new } else if holder != new { others.insert(new) }
        }

        /// - Returns: whether it was one.
        mutating func remove(_ old: Holder) -> Bool {
            guard holder == old else { return others.remove(old) != nil }
            holder = others.popFirst()
            return true
        }
    }

    /// A member without a holder.
    ///
    /// Of one that has come back it stays until its turn, or until there are many such.
    private struct Wait: Sendable {
        var number: UInt64
        var deadline: Instant
        var id: String
    }

    private let grace: Duration
    private var entries: [String: Entry] = [:]
    /// In the order of their deadlines, as the grace is the same for all; the first one is of a member that does wait.
    private var waits: Deque<Wait> = []
    private var lastWait: UInt64 = 0
    /// How many members have no holder.
    private(set) var waitingCount = 0

    /// Makes an empty one; `grace` is how long a member stays behind its last holder.
    init(grace: Duration) {
        self.grace = grace
    }

    /// How many are present.
    var count: Int { entries.count }

    /// When expire(at:) has something to do.
    var deadline: Instant? { waits.first?.deadline }

    /// How many places waits take, those of members that have come back among them.
    var waitCapacity: Int { waits.count }

    /// Whether somebody is present.
    func contains(_ id: String) -> Bool { entries[id] != nil }

    /// Whether somebody is present by a holder.
    func isHeld(_ id: String, by holder: Holder) -> Bool {
        guard let entry = entries[id] else { return false }
        return entry.holder == holder || entry.others.contains(holder)
    }

    /// Some of those who are present, in any order.
    func members(limit: Int) -> [PresenceMember] {
        entries.prefix(max(0, limit)).map { PresenceMember(id: $0.key, info: $0.value.info) }
    }

    /// A holder says that somebody is there.
    ///
    /// - Returns: what others see of it; nothing of one who was there and says the same.
    mutating func enter(_ member: PresenceMember, by holder: Holder) -> PresenceChange? {
        guard var entry = entries[member.id] else {
            entries[member.id] = Entry(info: member.info, holder: holder)
            return .joined(member)
        }
        entry.add(holder)
        if entry.wait != 0 {
            entry.wait = 0
            waitingCount -= 1
        }
        let isChanged = entry.info != member.info
        entry.info = member.info
        entries[member.id] = entry
        trim()
        return isChanged ? .joined(member) : nil
    }

    /// A holder says that somebody isn't there by it any more.
    ///
    /// - Returns: what others see of it, where there is no grace.
    mutating func leave(_ id: String, by holder: Holder, at now: Instant) -> PresenceChange? {
        guard var entry = entries[id], entry.remove(holder) else { return nil }
        guard entry.holder == nil else {
            entries[id] = entry
            return nil
        }
        guard grace > .zero else {
            entries[id] = nil
            return .left(PresenceMember(id: id, info: entry.info))
        }
        lastWait += 1
        entry.wait = lastWait
        entries[id] = entry
        waitingCount += 1
        // Callers on several threads may have read the clock in another order than they come in.
        let deadline = now.advanced(by: grace)
        waits.append(Wait(number: lastWait, deadline: max(deadline, waits.last?.deadline ?? deadline), id: id))
        compact()
        return nil
    }

    /// Removes those whose grace is over.
    ///
    /// - Returns: what others see of it, in the order of their deadlines.
    mutating func expire(at now: Instant) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        while let wait = waits.first, wait.deadline <= now {
            waits.removeFirst()
            if isWaiting(wait), let entry = entries.removeValue(forKey: wait.id) {
                waitingCount -= 1
                changes.append(.left(PresenceMember(id: wait.id, info: entry.info)))
            }
        }
        trim()
        return changes
    }

    private func isWaiting(_ wait: Wait) -> Bool { entries[wait.id]?.wait == wait.number }

    private mutating func trim() {
        while let wait = waits.first, !isWaiting(wait) { waits.removeFirst() }
    }

    /// Keeps the memory of those who come and go in bounds: once half of it is for nothing.
    private mutating func compact() {
        guard waits.count > 2 * waitingCount + 32 else { return }
        let entries = entries
        waits.removeAll { entries[$0.id]?.wait != $0.number }
    }
}
