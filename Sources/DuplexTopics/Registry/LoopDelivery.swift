// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

/// One loop's part of the topics: who of its connections is subscribed to what.
final class LoopDelivery: TurnTarget, Sendable {
    private final class Lists {
        var all: [UInt64: TopicMembers] = [:]
        /// What is on its way, if the turn had no time for all of it.
        var pass: TopicPass?
        /// Where that comes from; weak, as it has this.
        weak var source: TopicCore?
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
    func deliver(from source: TopicCore) {
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

/// What waits for one loop, in bounds.
struct LoopInbox: Sendable {
    let delivery: LoopDelivery
    /// How many subscriptions there are on the loop.
    var subscriptionCount = 0
    private var batch = TopicBatch()
    private var size = 0
    /// Where subscriptions began while something waited, by their topics.
    private var barriers: [UInt64: [UInt64]] = [:]
    /// Whether the loop has been asked to deliver.
    private var isAsked = false

    init(_ delivery: LoopDelivery) {
        self.delivery = delivery
    }

    /// The number that the next item will have.
    var next: UInt64 { batch.first + UInt64(batch.items.count) }

    /// A subscription begins here: what waits, and what was lost already, isn't for it.
    mutating func begin(_ audience: UInt64) {
        guard !batch.items.isEmpty, barriers[audience]?.last != next else { return }
        barriers[audience, default: []].append(next)
        let (number, count) = (next, batch.lost[audience]?.count ?? 0)
        if count > 0 { batch.lost[audience]?.early[number] = count }
    }

    /// Puts a message behind the others; beyond the bound all that wait are lost, and counted.
    ///
    /// - Returns: whether the loop is to be asked to deliver.
    mutating func append(_ entry: TopicEntry, _ audience: UInt64, _ bound: Int) -> Bool {
        if entry.size > bound - size, !batch.items.isEmpty {
            lose()
            batch.first = next
            batch.items = []
            size = 0
        }
        batch.items.append(TopicBatch.Item(audience: audience, entry: entry))
        size += entry.size
        defer { isAsked = true }
        return !isAsked
    }

    /// Counts all that wait as lost.
    private mutating func lose() {
        for (index, item) in batch.items.enumerated() {
            let number = batch.first + UInt64(index)
            batch.lost[item.audience, default: TopicBatch.Loss()].count += 1
            for barrier in barriers[item.audience] ?? [] where barrier > number {
                batch.lost[item.audience]?.early[barrier, default: 0] += 1
            }
        }
    }

    /// Takes out all that waits.
    mutating func take() -> TopicBatch {
        let taken = batch
        batch = TopicBatch(first: next)
        size = 0
        barriers = [:]
        isAsked = false
        return taken
    }
}

/// What waited for one loop, in the order in which it was published.
struct TopicBatch {
    /// A message, and the topic or pattern whose subscribers get it.
    struct Item {
        var audience: UInt64
        var entry: TopicEntry
    }

    /// What was lost for one audience.
    struct Loss {
        var count = 0
        /// How many of them came before a subscription, by its barrier.
        var early: [UInt64: Int] = [:]

        /// How many a subscription with that barrier lacks.
        func count(behind barrier: UInt64) -> Int { count - (early[barrier] ?? 0) }
    }

    /// The number of the first item among all that ever waited for this loop.
    var first: UInt64 = 0
    var items: [Item] = []
    /// What was lost for each audience, because the loop was busy for too long.
    var lost: [UInt64: Loss] = [:]

    /// The items from `start` on that have the same audience.
    func run(from start: Int) -> Range<Int> {
        let audience = items[start].audience
        var end = start + 1
        while end < items.count, items[end].audience == audience { end += 1 }
        return start..<end
    }
}

/// A batch on its way to the subscribers of one loop, as far as it has come.
struct TopicPass {
    /// The outcomes since they were last taken.
    private(set) var counts = TopicCounts()
    private let batch: TopicBatch
    /// What was lost and hasn't been reported to its members yet.
    private var losses: [(audience: UInt64, loss: TopicBatch.Loss)]
    /// The first item of the next run.
    private var next = 0
    /// What is reported to the members, or given to them; one of these, until all have it.
    private var loss: TopicBatch.Loss?
    private var run: TopicRun
    /// Those that were there when that began, whoever comes or goes meanwhile.
    private var members: [TopicMember] = []
    private var position = 0
    private var unsent = 0

    /// How many connections are given something before it is sent: what was written for all of them would be memory for each, and
    /// out of the processor's cache by the end of the turn.
    private static let unsentBound = 64

    init(_ batch: TopicBatch) {
        self.batch = batch
        run = Self.nothing(of: batch)
        losses = batch.lost.map { ($0.key, $0.value) }
    }

    /// Takes the outcomes so far.
    mutating func takeCounts() -> TopicCounts {
        defer { counts = TopicCounts() }
        return counts
    }

    /// Goes on for a share of the turn.
    ///
    /// - Parameters:
    ///   - core: the loop's.
    ///   - list: the members of an audience.
    /// - Returns: whether it has come to its end.
    mutating func goOn(on core: LoopCore, _ list: (UInt64) -> TopicMembers?) -> Bool {
        var share = TurnShare()
        while true {
            while position < members.count {
                let member = members[position]
                position += 1
                give(to: member, core)
                if share.isOver(core) { return false }
            }
            endPart()
            guard let members = beginPart(list) else { return true }
            guard let only = members.only else { continue }
            // Most topics have one, who needs no array.
            give(to: only, core)
            if share.isOver(core) { return false }
        }
    }

    /// Begins with what comes next: what was lost for one audience, and then the runs.
    ///
    /// - Returns: its members; `nil` at the end.
    private mutating func beginPart(_ list: (UInt64) -> TopicMembers?) -> TopicMembers? {
        while let (audience, lost) = losses.popLast() {
            guard let members = list(audience) else { continue }
            loss = lost
            self.members = members.several
            return members
        }
        while next < batch.items.count {
            let range = batch.run(from: next)
            next = range.upperBound
            guard let members = list(batch.items[range.lowerBound].audience) else { continue }
            // One message goes to each from where it lies; of several, each connection sends its own at once.
            run = TopicRun(batch, range, gathers: batch.items.count > 1)
            self.members = members.several
            return members
        }
        return nil
    }

    private mutating func endPart() {
        counts += run.counts
        run = Self.nothing(of: batch)
        loss = nil
        members = []
        position = 0
    }

    private static func nothing(of batch: TopicBatch) -> TopicRun { TopicRun(batch, 0..<0, gathers: false) }

    private mutating func give(to member: TopicMember, _ core: LoopCore) {
        if let loss {
            // It may have left since this began, which may take several turns.
            guard member.list != nil else { return }
            // Who came later, or took from the history what was lost, lacks nothing.
            let count = member.barrier < batch.first ? loss.count(behind: member.barrier) : 0
            if count > 0 { member.overrun(count, &counts) }
            return
        }
        member.deliver(&run)
        unsent += 1
        guard run.gathers, unsent >= Self.unsentBound else { return }
        core.sendGathered()
        unsent = 0
    }
}

/// Part of a batch, all of one topic, on its way to the subscribers of a loop.
///
/// What each of them needs is taken from the messages once for all.
struct TopicRun {
    /// Of the batch.
    let range: Range<Int>
    /// Whether what goes to a connection is sent with what follows.
    let gathers: Bool
    /// The outcomes of the messages.
    var counts = TopicCounts()
    private let batch: TopicBatch
    private var frames: [PreparedMessage] = []
    private var envelopes: [PreparedMessage] = []
    private var events: [TopicEntry.Event?] = []

    init(_ batch: TopicBatch, _ range: Range<Int>, gathers: Bool) {
        self.batch = batch
        self.range = range
        self.gathers = gathers
    }

    /// The message at an index of the batch.
    func entry(_ index: Int) -> TopicEntry { batch.items[index].entry }

    /// Whether it came behind the barrier of a subscriber.
    func isFor(_ member: TopicMember, _ index: Int) -> Bool { batch.first + UInt64(index) >= member.barrier }

    /// The frame of a message: plain, or in JSON.
    mutating func frame(_ index: Int, isEnveloped: Bool, _ forms: TopicForms) -> PreparedMessage {
        if isEnveloped {
            if envelopes.isEmpty { envelopes = range.map { entry($0).envelope(forms) } }
            return envelopes[index - range.lowerBound]
        }
        if frames.isEmpty { frames = range.map { entry($0).frame(forms) } }
        return frames[index - range.lowerBound]
    }

    /// A message as a server-sent event; `nil` where it can't be one.
    mutating func event(_ index: Int, _ forms: TopicForms) -> TopicEntry.Event? {
        if events.isEmpty { events = range.map { entry($0).event(forms) } }
        return events[index - range.lowerBound]
    }
}
