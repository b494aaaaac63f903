// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// One loop's part of the topics: who of its connections is subscribed to what.
final class LoopDelivery: TurnTarget, Sendable {
    private final class Lists {
        var all: [UInt64: TopicMembers] = [:]
        /// What is on its way, if the turn had no time for all of it.
        var pass: TopicPass?
        /// Where that comes from; weak, as it has this.
        weak var source: (any TopicSource)?
        /// Whether more has come to wait meanwhile.
        var isAskedAgain = false
    }

    let loop: EventLoop
    /// Where the table has this loop.
    let index: Int32
    private let lists: LoopBound<Lists>

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

    /// Gives all subscribers of this loop what waits for them: in several turns where they are many.
    ///
    /// Asked again before it has come to its end, it takes what waits by then behind it.
    func deliver(from source: any TopicSource) {
        let lists = lists.value
        if lists.pass != nil {
            lists.isAskedAgain = true
        } else {
            lists.source = source
            goOn(TopicPass(source.takeBatch(of: self)), lists)
        }
    }

    func turn() {
        let lists = lists.value
        if let pass = lists.pass.take() { goOn(pass, lists) }
    }

    private func goOn(_ pass: consuming TopicPass, _ lists: Lists) {
        let hasEnded = pass.goOn(on: loop.core) { lists.all[$0] }
        lists.source?.add(pass.takeCounts())
        guard hasEnded else {
            lists.pass = pass
            return loop.core.callNextTurn(self)
        }
        guard let source = lists.source, lists.isAskedAgain else { return }
        lists.isAskedAgain = false
        // In its own turn: this one has had its share.
        loop.execute { _ in self.deliver(from: source) }
    }
}

/// Where the batches of a loop come from.
protocol TopicSource: AnyObject, Sendable {
    /// Takes out what waits for the loop.
    func takeBatch(of delivery: LoopDelivery) -> TopicBatch

    /// Counts outcomes.
    func add(_ counts: TopicCounts)
}
