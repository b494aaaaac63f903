// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// One loop's part of the topics: who of its connections is subscribed to what.
final class LoopDelivery: Sendable {
    private final class Lists {
        var all: [UInt64: TopicMembers] = [:]
    }

    let loop: EventLoop
    /// Where the table has this loop.
    let index: Int32
    private let lists: LoopBound<Lists>

    /// How many connections are given something before it is sent: what was written for all of them would be memory for each, and
    /// out of the processor's cache by the end of the turn.
    private static let unsentBound = 64

    init(_ loop: EventLoop, _ index: Int32) {
        self.loop = loop
        self.index = index
        lists = LoopBound(Lists(), on: loop.thread)
    }

    // MARK: On the loop

    func add(_ member: TopicMember, _ audience: UInt64, _ slot: Int32) {
        let lists = lists.value
        let members = lists.all[audience] ?? TopicMembers(self, audience, slot)
        lists.all[audience] = members
        members.add(member)
    }

    func remove(_ member: TopicMember) {
        guard let members = member.list else { return }
        members.remove(member)
        if members.isEmpty { lists.value.all[members.audience] = nil }
    }

    /// Has the subscriptions to a topic begin that waited for its history.
    ///
    /// - Parameters:
    ///   - audience: the topic's.
    ///   - isFinal: whether they begin in any case, with what there is.
    func settle(_ audience: UInt64, isFinal: Bool) {
        for member in lists.value.all[audience]?.all ?? [] {
            guard let pending = member.pending.take() else { continue }
            if pending.begin(!isFinal && pending.waits > 0) {
                pending.end()
            } else {
                pending.waits -= 1
                member.pending = pending
            }
        }
    }

    /// Gives all subscribers of this loop what waited for them.
    ///
    /// - Returns: the result.
    func deliver(_ batch: TopicBatch) -> TopicCounts {
        let lists = lists.value
        var counts = TopicCounts()
        for (audience, loss) in batch.lost {
            // Who came later, or took from the history what was lost, lacks nothing.
            for member in lists.all[audience]?.all ?? [] where member.barrier < batch.first {
                let count = loss.count(behind: member.barrier)
                if count > 0 { member.overrun(count, &counts) }
            }
        }
        // One message goes to each from where it lies; of several, each connection sends its own at once.
        let gathers = batch.items.count > 1
        var unsent = 0
        var next = 0
        while next < batch.items.count {
            var run = TopicRun(batch, batch.run(from: next), gathers: gathers)
            next = run.range.upperBound
            guard let members = lists.all[batch.items[run.range.lowerBound].audience] else { continue }
            // Those that are there now, whoever comes or goes meanwhile.
            let (only, several) = (members.only, members.several)
            if let only { give(&run, to: only, &unsent) }
            for member in several { give(&run, to: member, &unsent) }
            counts += run.counts
        }
        return counts
    }

    private func give(_ run: inout TopicRun, to member: TopicMember, _ unsent: inout Int) {
        member.deliver(&run)
        unsent += 1
        guard run.gathers, unsent >= Self.unsentBound else { return }
        loop.core.sendGathered()
        unsent = 0
    }
}
