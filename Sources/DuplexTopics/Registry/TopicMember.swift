// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// One subscription of a connection; belongs to its loop's thread.
///
/// What is common to all kinds: where it stands among those of its loop, and from where on it gets what is published.
class TopicMember {
    /// Those of the same topic and loop; `nil` once it has left.
    final var list: TopicMembers?
    /// Where it is among them.
    final var place: Int32 = 0
    /// Whether it takes messages from the history, up to its end, and none of those that come.
    final var isReplaying = false
    /// Whether its topic has a history.
    final var isKept = false
    /// Whether nothing is missing of what it asked for.
    final var isComplete = false
    /// The first item of its loop that it gets; those before it were published before it came.
    final var barrier: UInt64 = 0
    /// The number of the last message that went to the subscriber, or waits for it.
    final var number: UInt64 = 0

    /// What it is to do once the history of its topic has come; `nil` for one that has begun.
    final var pending: PendingStart?

    /// Gives the subscriber what was published.
    func deliver(_ run: inout TopicRun) {}

    /// An entry has gone to the subscriber, or waits for it.
    final func passed(_ entry: TopicEntry) {
        // What isn't in the history has no place there.
        if entry.number > 0 { number = entry.number }
    }

    /// Messages were lost, because the loop was busy.
    func overrun(_ count: Int, _ counts: inout TopicCounts) {}
}

/// A subscription that waits for the history of its topic.
final class PendingStart {
    /// Has it begin, unless it may wait for more and has to.
    ///
    /// - Returns: whether it has begun.
    let begin: (_ mayWait: Bool) -> Bool
    /// How often it may wait for more.
    var waits = 3
    /// Called once it has begun, or won't.
    var waiters: [() -> Void] = []

    init(_ begin: @escaping (_ mayWait: Bool) -> Bool) {
        self.begin = begin
    }

    /// Tells all who wait.
    func end() {
        for waiter in waiters { waiter() }
        waiters = []
    }
}

/// The subscriptions of one loop to one topic or pattern.
final class TopicMembers {
    let delivery: LoopDelivery
    /// Identifies the topic among all of its time and later.
    let audience: UInt64
    let slot: Int32
    /// The only one, as long as there is one: most topics have no more, and need no array.
    private(set) var only: TopicMember?
    /// All, as soon as there were several; in the order in which they came, nearly.
    ///
    /// What belongs to one then lies near what belongs to the next, and is there when it is needed.
    private(set) var several: [TopicMember] = []

    init(_ delivery: LoopDelivery, _ audience: UInt64, _ slot: Int32) {
        self.delivery = delivery
        self.audience = audience
        self.slot = slot
    }

    var isEmpty: Bool { only == nil && several.isEmpty }
    /// All of them, in their places.
    var all: [TopicMember] { only.map { [$0] } ?? several }

    func add(_ member: TopicMember) {
        member.list = self
        if isEmpty {
            member.place = 0
            only = member
            return
        }
        if let first = only.take() { several = [first] }
        member.place = Int32(several.count)
        several.append(member)
    }

    /// Puts the last one into the place of one that goes.
    func remove(_ member: TopicMember) {
        let place = Int(member.place)
        guard member.list === self else { return }
        member.list = nil
        if only === member {
            only = nil
            return
        }
        let last = several.removeLast()
        guard last !== member else { return }
        several[place] = last
        last.place = Int32(place)
    }
}
