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
    /// How far this node's copies of histories are that a backplane keeps; none without one.
    var copies: [Int32: TopicCopy] = [:]
    /// What the backplane is to be asked for, in order.
    var wishes = TopicWishes()
    /// How many bytes they have together.
    var historySize = 0
    /// The topics whose histories are looked at for what has become too old.
    var sweep: [Int32] = []
    private let rules: [HistoryRule]
    private var inboxes: [LoopInbox?] = []
    private(set) var subscriptionCount = 0

    private struct HistoryRule: Sendable {
        var patterns: TopicPatterns<Bool>
        var history: TopicOptions.History
    }

    /// Whether there is a backplane, which numbers messages and keeps them.
    let isJoined: Bool

    /// Makes an empty table; `epoch` is random text, which distinguishes positions of these topics from others'.
    init(_ options: TopicOptions, epoch: String, isJoined: Bool = false) {
        self.options = options
        self.isJoined = isJoined
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

    /// The topic or the pattern of a record.
    func name(of slot: Int32) -> String? { records[Int(slot)]?.name }

    /// How many subscriptions a topic or a pattern has.
    func subscriptionCount(of name: String) -> Int {
        guard let slot = slots[name], let record = records[Int(slot)] else { return 0 }
        return record.shares.reduce(record.listeners.count) { $0 + Int($1.count) }
    }

    // MARK: Publishing

    /// What happened to a message.
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
        // A message that doesn't go by the backplane has no place among those that do.
        let position =
            isJoined
            ? nil : histories[slot].map { TopicPosition(epoch: $0.epoch, offset: $0.lastNumber + 1) }
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
        guard !isJoined, rule(for: name) != nil, histories.count < options.historyLimit else { return nil }
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
    mutating func hand(_ entry: TopicEntry, to slot: Int32, _ published: inout Published) {
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
        /// The position behind which it begins; `nil` where none is kept.
        var place: TopicPosition? {
            position.map { TopicPosition(epoch: $0.epoch, offset: number == nil ? $0.offset : offset) }
        }
        /// The offset behind which it begins.
        var offset: UInt64 = 0
        /// Whether the history is on its way: the rest is known when ``LoopDelivery/settle(_:isFinal:)`` is called.
        var isPending = false

        /// The message in the history behind which it begins, whether or not anything is taken from there.
        var begins: UInt64 = 0
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
        if mustWait(for: slot, replay) {
            return Start(
                slot: slot,
                audience: records[Int(slot)]?.audience ?? 0,
                delivery: delivery,
                isKept: true,
                barrier: inboxes[index]?.next ?? 0,
                isPending: true
            )
        }
        return start(slot, delivery, replay, at: now)
    }

    /// Where a subscription of a loop begins that is counted already.
    mutating func start(
        _ slot: Int32,
        _ delivery: LoopDelivery,
        _ replay: TopicReplay,
        at now: Instant
    ) -> Start {
        let (number, isComplete) = place(in: slot, replay, at: now)
        let audience = audience(of: slot)
        inboxes[Int(delivery.index)]?.begin(audience)
        return Start(
            slot: slot,
            audience: audience,
            delivery: delivery,
            isKept: histories[slot] != nil,
            barrier: inboxes[Int(delivery.index)]?.next ?? 0,
            number: number,
            isComplete: isComplete,
            position: histories[slot].flatMap { $0.epoch.isEmpty ? nil : $0.position },
            offset: number.flatMap { histories[slot]?.offset(of: $0) } ?? 0,
            begins: number ?? histories[slot]?.lastNumber ?? 0
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
    ) throws(TopicError) -> Int32 {
        let slot = try slot(subscribing: name)
        subscriptionCount += 1
        if mustWait(for: slot, replay) {
            copies[slot]?.listeners.append(.init(listener: listener, replay: replay))
            return slot
        }
        _ = begin(listener, slot, replay, isAwaited: false, at: now)
        return slot
    }

    /// Has a subscription of code begin.
    ///
    /// - Returns: whether ``TopicListener/take()`` is to be called.
    mutating func begin(
        _ listener: TopicListener,
        _ slot: Int32,
        _ replay: TopicReplay,
        isAwaited: Bool,
        at now: Instant
    ) -> Bool {
        // In front of all else, so that the topic isn't taken for one that nobody needs.
        records[Int(slot)]?.listeners.append(listener)
        let (number, isComplete) = place(in: slot, replay, at: now)
        // In one step with the rest: nothing is missed in between, and nothing comes twice.
        let entries = number.flatMap { histories[slot]?.entries(behind: $0) }
        return listener.begin(entries ?? [], isComplete: isComplete, isAwaited: isAwaited)
    }

    mutating func leave(_ listener: TopicListener, _ slot: Int32) {
        if let place = records[Int(slot)]?.listeners.firstIndex(where: { $0 === listener }) {
            records[Int(slot)]?.listeners.remove(at: place)
        } else if let place = copies[slot]?.listeners.firstIndex(where: { $0.listener === listener }) {
            copies[slot]?.listeners.remove(at: place)
        } else {
            return
        }
        subscriptionCount -= 1
        forgetIfIdle(slot)
    }

    private mutating func slot(subscribing name: String) throws(TopicError) -> Int32 {
        guard subscriptionCount < options.subscriptionLimit else {
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

    /// Distinguishes a record from later ones in its place; 0 where there is none.
    func audience(of slot: Int32) -> UInt64 {
        Int(slot) < records.count ? records[Int(slot)]?.audience ?? 0 : 0
    }

    /// So many messages of a topic were missed, and aren't kept any more: code learns it with the next one.
    func missed(_ count: Int, _ slot: Int32) {
        for listener in records[Int(slot)]?.listeners ?? [] { listener.miss(count) }
    }

    /// The loops that have subscriptions to a topic.
    func deliveries(of slot: Int32) -> [LoopDelivery] {
        records[Int(slot)]?.shares.compactMap { inboxes[Int($0.loop)]?.delivery } ?? []
    }

    func rule(for name: String) -> TopicOptions.History? {
        rules.first { !$0.patterns.values(matching: name).isEmpty }?.history
    }

    private mutating func make(_ name: String, isPattern: Bool) -> Int32 {
        lastAudience += 1
        let rule = isPattern || histories.count >= options.historyLimit ? nil : rule(for: name)
        let record = Record(name: name, audience: lastAudience, isPattern: isPattern)
        let slot = freeSlots.popLast() ?? Int32(records.count)
        if slot == records.count { records.append(record) } else { records[Int(slot)] = record }
        slots[name] = slot
        if let rule {
            histories[slot] = TopicHistory(isJoined ? "" : "\(epoch).\(lastAudience)", rule)
            if isJoined { copies[slot] = TopicCopy() }
        }
        if isJoined { wishes.append(.subscribe(name)) }
        if isPattern {
            patterns[name] = slot
            generation += 1
        }
        return slot
    }

    /// Takes a record out that nobody needs.
    private mutating func forgetIfIdle(_ slot: Int32) {
        guard let record = records[Int(slot)], record.shares.isEmpty, record.listeners.isEmpty else { return }
        if let history = histories[slot] {
            // What a backplane keeps isn't kept here for nobody.
            guard isJoined ? copies[slot]?.listeners.isEmpty ?? true : history.isEmpty else { return }
            historySize -= history.size
            histories[slot] = nil
            copies[slot] = nil
        }
        if isJoined { wishes.append(.unsubscribe(record.name)) }
        records[Int(slot)] = nil
        freeSlots.append(slot)
        slots[record.name] = nil
        if record.isPattern {
            patterns[record.name] = nil
            generation += 1
        }
    }

    // MARK: Histories

    /// Adds a message to the history of its topic, which makes room for it by its own oldest ones.
    mutating func keep(_ entry: TopicEntry, _ slot: Int32, _ now: Instant) {
        change(slot) { $0.append(entry, at: now) }
        let excess = historySize - options.historySize.bytes
        if excess > 0 { change(slot) { $0.shrink(to: max(0, $0.size - excess)) } }
    }

    mutating func change(_ slot: Int32, _ change: (inout TopicHistory) -> Void) {
        guard let before = histories[slot]?.size else { return }
        // In its place: a copy would be one of the whole history.
        change(&histories[slot, default: TopicHistory("", TopicOptions.History())])
        historySize += (histories[slot]?.size ?? 0) - before
    }

    /// Looks at one history for what is too old, each time another, and takes out topics that nobody needs any more.
    ///
    /// So none is kept long behind its time while anything is published.
    mutating func sweepOne(at now: Instant) {
        if sweep.isEmpty { sweep = Array(histories.keys) }
        guard let slot = sweep.popLast(), histories[slot] != nil else { return }
        change(slot) { $0.expire(at: now) }
        forgetIfIdle(slot)
    }

    /// Where a subscription begins in the history.
    ///
    /// - Returns: the message behind which it begins, if there is anything to be taken from the history; whether nothing that it
    ///   asked for is missing.
    mutating func place(
        in slot: Int32,
        _ replay: TopicReplay,
        at now: Instant
    ) -> (number: UInt64?, isComplete: Bool) {
        change(slot) { $0.expire(at: now) }
        guard let history = histories[slot] else {
            if case .after = replay { return (nil, false) }
            return (nil, true)
        }
        var (number, isComplete) = history.place(replay)
        // Without what the backplane keeps nobody knows.
        if replay != .none, copies[slot]?.hasLoaded == false { isComplete = false }
        return (number < history.lastNumber ? number : nil, isComplete)
    }

    /// What a subscriber takes next from the history of its topic.
    enum Next: Sendable {
        case entries([TopicEntry])
        /// There is no more; from this item of its loop on it gets what comes.
        case live(barrier: UInt64)
        /// Some of what comes next isn't kept any more; this is the first that is, or the one to come.
        case lost(first: UInt64)
    }

    func next(in slot: Int32, behind number: UInt64, _ delivery: LoopDelivery) -> Next {
        let live = Next.live(barrier: inboxes[Int(delivery.index)]?.next ?? 0)
        guard let history = histories[slot] else { return live }
        guard let entries = history.entries(behind: number, limit: 64) else {
            return .lost(first: history.firstNumber)
        }
        return entries.isEmpty ? live : .entries(entries)
    }

    /// The position of the last message of a topic; `nil` where nothing is kept.
    func position(of name: String) -> TopicPosition? {
        guard let slot = slot(of: name), let history = histories[slot], !history.epoch.isEmpty else { return nil }
        return history.position
    }
}
