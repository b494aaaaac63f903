// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// Who is subscribed to what on which loop, and what is kept: everything that publishing from anywhere has to know.
///
/// A value behind one lock, which is held for a look-up and some appends, never while anything is framed or sent.
struct TopicTable: Sendable {
    /// How many subscriptions a loop has to a topic.
    private struct Share: Sendable {
        var loop: Int32
        var count: Int32
    }

    /// A topic or a pattern that somebody is subscribed to, or of which something is kept.
    private struct Record: Sendable {
        let name: String
        /// Never given to another one.
        let audience: UInt64
        let isPattern: Bool
        var shares: [Share] = []
        var listeners: [TopicListener] = []
        /// The patterns that match it, as of ``generation``.
        var matches: [Int32] = []
        var generation: UInt64 = 0
    }

    let options: TopicOptions
    private let epoch: String
    private var slots: [String: Int32] = [:]
    private var records: [Record?] = []
    private var freeSlots: [Int32] = []
    private var lastAudience: UInt64 = 0
    private var patterns = TopicPatterns<Int32>()
    private var generation: UInt64 = 0
    var histories: [Int32: TopicHistory] = [:]
    /// How many bytes they have together.
    var historySize = 0
    /// The topics whose histories are looked at for what has become too old.
    var sweep: [Int32] = []
    private let rules: [HistoryRule]
    var inboxes: [LoopInbox?] = []
    private(set) var subscriptionCount = 0

    private struct HistoryRule: Sendable {
        var patterns: TopicPatterns<Bool>
        var history: TopicOptions.History
    }

    /// Makes an empty table; `epoch` is random text, which tells positions of these topics from others'.
    init(_ options: TopicOptions, epoch: String) {
        self.options = options
        self.epoch = epoch
        rules = options.histories.map { pattern, history in
            var patterns = TopicPatterns<Bool>()
            patterns[pattern] = true
            return HistoryRule(patterns: patterns, history: history)
        }
    }

    /// How many topics and patterns are known.
    var recordCount: Int { slots.count }

    /// Where a topic or a pattern has its record.
    func slot(of name: String) -> Int32? { slots[name] }

    /// How many subscriptions a topic or a pattern has.
    func subscriptionCount(of name: String) -> Int {
        guard let slot = slots[name], let record = records[Int(slot)] else { return 0 }
        return record.shares.reduce(record.listeners.count) { $0 + Int($1.count) }
    }

    // MARK: Publishing

    /// What became of a message.
    struct Published: Sendable {
        var position: TopicPosition?
        /// How many subscriptions it goes to.
        var count = 0
        /// The loops that are to be asked to deliver.
        var asked: [LoopDelivery] = []
        /// The subscriptions of code that have something to take.
        var listeners: [TopicListener] = []
    }

    mutating func publish(
        _ name: String,
        _ payload: TopicEntry.Payload,
        at now: Instant
    ) throws(TopicError) -> Published {
        var published = Published()
        guard let slot = try slot(publishing: name) else {
            let matches = patterns.values(matching: name)
            guard !matches.isEmpty else { return published }
            let entry = TopicEntry(name, nil, payload)
            for match in matches { hand(entry, to: match, &published) }
            return published
        }
        guard let record = records[Int(slot)] else { return published }
        guard !record.isPattern else { throw TopicError(.invalidName, "A pattern can't be published to.") }
        let position = histories[slot].map { TopicPosition(epoch: $0.epoch, offset: $0.lastNumber + 1) }
        let entry = TopicEntry(record.name, position, payload)
        published.position = position
        if position != nil { keep(entry, slot, now) }
        hand(entry, to: slot, &published)
        for match in matches(of: slot) { hand(entry, to: match, &published) }
        sweepOne(at: now)
        return published
    }

    /// The record of a topic that is published to; `nil` where nobody subscribes to it by its name and nothing is kept.
    private mutating func slot(publishing name: String) throws(TopicError) -> Int32? {
        if let slot = slots[name] { return slot }
        guard try !TopicError.check(name) else { throw TopicError(.invalidName, "A pattern can't be published to.") }
        guard rule(for: name) != nil, histories.count < options.mostHistories else { return nil }
        return make(name, isPattern: false)
    }

    private mutating func matches(of slot: Int32) -> [Int32] {
        guard patterns.count > 0, let record = records[Int(slot)] else { return [] }
        if record.generation == generation { return record.matches }
        let matches = patterns.values(matching: record.name)
        records[Int(slot)]?.matches = matches
        records[Int(slot)]?.generation = generation
        return matches
    }

    /// Puts a message into the inboxes of the loops that have subscribers, and hands it to those that are code.
    private mutating func hand(_ entry: TopicEntry, to slot: Int32, _ published: inout Published) {
        guard let record = records[Int(slot)] else { return }
        for share in record.shares {
            published.count += Int(share.count)
            let index = Int(share.loop)
            guard let delivery = inboxes[index]?.delivery else { continue }
            let bound = options.loopBacklog.bytes
            if inboxes[index]?.append(entry, record.audience, bound) == true { published.asked.append(delivery) }
        }
        published.count += record.listeners.count
        for listener in record.listeners where listener.put(entry) { published.listeners.append(listener) }
    }

    /// Takes out what waits for a loop.
    mutating func takeBatch(of delivery: LoopDelivery) -> TopicBatch {
        let index = Int(delivery.index)
        guard index < inboxes.count, inboxes[index]?.delivery === delivery else { return TopicBatch() }
        return inboxes[index]?.take() ?? TopicBatch()
    }

    // MARK: Subscribing

    /// Where a subscription of code begins.
    struct CodeStart: Sendable {
        var slot: Int32
        var isComplete: Bool
    }

    /// Where a subscription begins.
    struct Start: Sendable {
        var slot: Int32
        var audience: UInt64
        var delivery: LoopDelivery
        var isKept: Bool
        /// The first item of the loop that it gets.
        var barrier: UInt64
        /// The message in the history behind which it begins; `nil` where nothing is taken from there.
        var number: UInt64?
        /// Whether nothing that it asked for is missing.
        var isComplete = true
        /// The last message when it began; `nil` where none is kept.
        var position: TopicPosition?
    }

    mutating func join(
        _ name: String,
        on loop: EventLoop,
        _ replay: TopicReplay,
        at now: Instant
    ) throws(TopicError) -> Start {
        let slot = try slot(subscribing: name)
        let delivery = delivery(for: loop)
        let index = Int(delivery.index)
        inboxes[index]?.subscriptionCount += 1
        share(slot, delivery.index)
        subscriptionCount += 1
        let barrier = inboxes[index]?.next ?? 0
        let (number, isComplete) = place(in: slot, replay, at: now)
        return Start(
            slot: slot,
            audience: records[Int(slot)]?.audience ?? 0,
            delivery: delivery,
            isKept: histories[slot] != nil,
            barrier: barrier,
            number: number,
            isComplete: isComplete,
            position: histories[slot].map { TopicPosition(epoch: $0.epoch, offset: $0.lastNumber) }
        )
    }

    mutating func leave(_ slot: Int32, _ delivery: LoopDelivery) {
        subscriptionCount -= 1
        if let place = records[Int(slot)]?.shares.firstIndex(where: { $0.loop == delivery.index }) {
            records[Int(slot)]?.shares[place].count -= 1
            if records[Int(slot)]?.shares[place].count == 0 { records[Int(slot)]?.shares.remove(at: place) }
        }
        let index = Int(delivery.index)
        inboxes[index]?.subscriptionCount -= 1
        if inboxes[index]?.subscriptionCount == 0 { inboxes[index] = nil }
        forgetIfIdle(slot)
    }

    mutating func join(
        _ listener: TopicListener,
        _ name: String,
        _ replay: TopicReplay,
        at now: Instant
    ) throws(TopicError) -> CodeStart {
        let slot = try slot(subscribing: name)
        subscriptionCount += 1
        // In front of all else, so that the topic isn't taken for one that nobody needs.
        records[Int(slot)]?.listeners.append(listener)
        let (number, isComplete) = place(in: slot, replay, at: now)
        // In one step with the rest: nothing is missed in between, and nothing comes twice.
        if let number { listener.begin(histories[slot]?.entries(behind: number) ?? []) }
        return CodeStart(slot: slot, isComplete: isComplete)
    }

    mutating func leave(_ listener: TopicListener, _ slot: Int32) {
        guard let place = records[Int(slot)]?.listeners.firstIndex(where: { $0 === listener }) else { return }
        subscriptionCount -= 1
        records[Int(slot)]?.listeners.remove(at: place)
        forgetIfIdle(slot)
    }

    private mutating func slot(subscribing name: String) throws(TopicError) -> Int32 {
        guard subscriptionCount < options.mostSubscriptions else {
            throw TopicError(.limitReached, "There are \(subscriptionCount) subscriptions, which is the limit.")
        }
        if let slot = slots[name] { return slot }
        return make(name, isPattern: try TopicError.check(name))
    }

    private mutating func share(_ slot: Int32, _ loop: Int32) {
        if let place = records[Int(slot)]?.shares.firstIndex(where: { $0.loop == loop }) {
            records[Int(slot)]?.shares[place].count += 1
        } else {
            records[Int(slot)]?.shares.append(Share(loop: loop, count: 1))
        }
    }

    private mutating func delivery(for loop: EventLoop) -> LoopDelivery {
        for inbox in inboxes { if let inbox, inbox.delivery.loop === loop { return inbox.delivery } }
        let free = inboxes.firstIndex { $0 == nil } ?? inboxes.count
        if free == inboxes.count { inboxes.append(nil) }
        let delivery = LoopDelivery(loop, Int32(free))
        inboxes[free] = LoopInbox(delivery)
        return delivery
    }

    // MARK: Records

    private func rule(for name: String) -> TopicOptions.History? {
        rules.first { !$0.patterns.values(matching: name).isEmpty }?.history
    }

    private mutating func make(_ name: String, isPattern: Bool) -> Int32 {
        lastAudience += 1
        let rule = isPattern || histories.count >= options.mostHistories ? nil : rule(for: name)
        let record = Record(name: name, audience: lastAudience, isPattern: isPattern)
        let slot = freeSlots.popLast() ?? Int32(records.count)
        if slot == records.count { records.append(record) } else { records[Int(slot)] = record }
        slots[name] = slot
        if let rule { histories[slot] = TopicHistory("\(epoch).\(lastAudience)", rule) }
        if isPattern {
            patterns[name] = slot
            generation += 1
        }
        return slot
    }

    /// Takes a record out that nobody needs.
    mutating func forgetIfIdle(_ slot: Int32) {
        guard let record = records[Int(slot)], record.shares.isEmpty, record.listeners.isEmpty else { return }
        if let history = histories[slot] {
            guard history.isEmpty else { return }
            histories[slot] = nil
        }
        records[Int(slot)] = nil
        freeSlots.append(slot)
        slots[record.name] = nil
        if record.isPattern {
            patterns[record.name] = nil
            generation += 1
        }
    }
}
