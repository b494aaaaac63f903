// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// One loop's part of the topics: who of its connections is subscribed to what.
final class LoopDelivery: TurnTarget, Sendable {
    private final class Lists {
        var all: [UInt64: TopicMembers] = [:]
        /// What is on its way, if the turn had no time for all of it.
        var pass: TopicPass?
        /// For whom that is; weak, as it has this.
        weak var core: TopicCore?
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
    func deliver(for core: TopicCore) {
        let lists = lists.value
        if lists.pass != nil {
            lists.isAskedAgain = true
        } else {
            lists.core = core
            goOn(TopicPass(core.withTable { $0.takeBatch(of: self) }), lists)
        }
    }

    func turn() {
        let lists = lists.value
        if let pass = lists.pass.take() { goOn(pass, lists) }
    }

    private func goOn(_ pass: consuming TopicPass, _ lists: Lists) {
        let hasEnded = pass.goOn(on: loop.core) { lists.all[$0] }
        lists.core?.tally.add(pass.takeCounts())
        guard hasEnded else {
            lists.pass = pass
            return loop.core.callNextTurn(self)
        }
        guard let core = lists.core, lists.isAskedAgain else { return }
        lists.isAskedAgain = false
        // In its own turn: this one has had its share.
        loop.execute { _ in self.deliver(for: core) }
    }
}
