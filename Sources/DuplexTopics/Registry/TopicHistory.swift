// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The last messages of one topic.
struct TopicHistory: Sendable {
    /// Tells the offsets of this history from others'; with a backplane it is that of all nodes, and may change.
    private(set) var epoch: String
    /// What is added to an offset for its number here.
    ///
    /// Numbers go on when offsets begin anew; the sum wraps.
    private var shift: UInt64 = 0
    private let time: Duration
    private var events: EventHistory<TopicEntry>

    init(_ epoch: String, _ options: TopicOptions.History) {
        self.epoch = epoch
        time = options.time
        events = EventHistory(epoch: epoch, keeping: options.count, size: options.size)
    }

    var isEmpty: Bool { events.count == 0 }
    var size: Int { events.byteCount }
    var lastNumber: UInt64 { events.lastNumber }
    var firstNumber: UInt64 { events.firstNumber }

    /// Where the last message stands.
    var position: TopicPosition { TopicPosition(epoch: epoch, offset: events.lastNumber &- shift) }

    /// The number here of the message with an offset.
    func number(of offset: UInt64) -> UInt64 { offset &+ shift }

    /// The offset of the message with a number here.
    func offset(of number: UInt64) -> UInt64 { number &- shift }

    /// Forgets all messages, and goes on with others: of this epoch, or of one whose offsets begin anew.
    mutating func restart(_ epoch: String, behind offset: UInt64) {
        if epoch == self.epoch, offset >= position.offset {
            events.restart(behind: number(of: offset))
        } else {
            events.restart(behind: events.lastNumber == 0 ? offset : events.lastNumber)
            self.epoch = epoch
            shift = events.lastNumber &- offset
        }
    }

    /// Adds a message, and removes what is too old.
    mutating func append(_ entry: TopicEntry, at now: Instant) {
        expire(at: now)
        events.append(entry, id: nil, size: entry.size, at: now)
    }

    mutating func expire(at now: Instant) {
        events.removeAll(before: now.advanced(by: .zero - time))
    }

    /// Makes room by the oldest messages.
    mutating func shrink(to size: Int) {
        events.shrink(to: size)
    }

    /// Where a subscriber begins.
    ///
    /// - Returns: the number behind which it goes on, and whether nothing that it asked for is missing.
    func place(_ replay: TopicReplay) -> (number: UInt64, isComplete: Bool) {
        switch replay {
        case .none: return (events.lastNumber, true)
        case .last(let count): return (events.place(beforeLast: count), true)
        case .after(let position):
            let isKnown = position.epoch == epoch && position.offset <= self.position.offset
            guard isKnown, position.offset + 1 >= events.firstNumber &- shift else {
                return (events.firstNumber - 1, false)
            }
            return (number(of: position.offset), true)
        }
    }

    /// What follows behind a message; `nil` when some of it isn't kept any more.
    func entries(behind number: UInt64, limit: Int = .max) -> [TopicEntry]? {
        events.elements(behind: number, limit: min(limit, Int(Int32.max)))
    }
}

/// How far this node's copy of a topic's history is, which the backplane keeps.
struct TopicCopy: Sendable {
    enum State: Sendable {
        /// Messages don't come; what did is a part of the whole.
        case away
        /// Messages come and wait here, while what lies before them is on its way.
        case loading
        /// It is as the backplane's, but for what is on its way.
        case live
    }

    var state = State.away
    /// Whether it was ever as the backplane's.
    var hasLoaded = false
    /// Whether it is no longer waited for.
    var isGivenUp = false
    /// Whether a deadline runs for those who wait, and how many have run.
    var isTimed = false
    var waits: UInt64 = 0
    /// How often it was asked for: an answer to an earlier question says nothing of what came to pass since.
    var loads: UInt64 = 0
    /// What came while the rest was on its way, and its bytes.
    private(set) var early: [BackplaneMessage] = []
    private(set) var earlySize = 0
    /// What had come so and wasn't taken in yet as the subscription was interrupted, and its bytes.
    private(set) var before: [BackplaneMessage] = []
    private var beforeSize = 0
    /// Whether messages may have been missed since it was last live.
    var wasInterrupted = false
    /// Whether what was missed is lost, nobody knows how much: the next message says so.
    var hasGap = false
    /// The last number of each origin.
    private var numbers: [String: UInt64] = [:]
    /// Subscriptions of code that wait for it.
    var listeners: [Waiting] = []
    /// The number behind which those begin that wanted nothing of the past, and had to wait; `nil` while they do.
    var settledNumber: UInt64?

    /// A subscription of code that waits.
    struct Waiting: Sendable {
        var listener: TopicListener
        var replay: TopicReplay
        /// How often it may wait for more.
        var waits = 3
    }

    /// Whether subscriptions begin at once, with what there is.
    var isSettled: Bool { hasLoaded || isGivenUp }

    /// Puts a message behind those that came early; beyond the bound all of them are dropped, and are loaded later.
    mutating func append(_ message: BackplaneMessage, _ bound: Int) {
        let size = Self.size(of: message)
        if size > bound - earlySize { (early, earlySize) = ([], 0) }
        early.append(message)
        earlySize += size
    }

    /// What a message takes here, about.
    private static func size(of message: BackplaneMessage) -> Int { message.message.byteCount + 256 }

    /// The most origins whose numbers are known: each start of a node is one.
    private static let mostOrigins = 256

    /// Whether a message has been taken before, under another position: an origin whose answer was lost together with the memory
    /// of the backplane publishes it again.
    mutating func hasTaken(_ message: BackplaneMessage) -> Bool {
        if let last = numbers[message.origin], message.number <= last { return true }
        if numbers.count >= Self.mostOrigins { numbers = [:] }
        numbers[message.origin] = message.number
        return false
    }

    mutating func takeEarly() -> [BackplaneMessage] {
        defer { (early, earlySize) = ([], 0) }
        return early
    }

    /// Messages may be missed from here on.
    mutating func interrupt(_ bound: Int) {
        state = .away
        wasInterrupted = true
        setAside(bound)
    }

    /// Keeps the messages that came early for after the next history, which is asked for anew.
    ///
    /// A server that loses its memory meanwhile doesn't have them any more. Beyond the bound all of them are dropped, as above.
    mutating func setAside(_ bound: Int) {
        if beforeSize + earlySize > bound { (before, beforeSize) = ([], 0) }
        before += early
        beforeSize += earlySize
        (early, earlySize) = ([], 0)
    }

    /// Takes out those whose positions fit.
    mutating func takeBefore(where fits: (TopicPosition) -> Bool = { _ in true }) -> [BackplaneMessage] {
        let all = before
        before = all.filter { $0.position.map { !fits($0) } ?? false }
        beforeSize = before.reduce(0) { $0 + Self.size(of: $1) }
        return all.filter { $0.position.map(fits) ?? true }
    }
}

/// A topic whose history somebody waits for.
struct TimedWait: Sendable, Hashable {
    var slot: Int32
    var audience: UInt64
    /// Which of the topic's waits it is.
    var number: UInt64
}

/// What a backplane is to be asked for, in the order in which it came to be needed; by one thread at a time.
struct TopicWishes: Sendable {
    enum Wish: Sendable, Hashable {
        case subscribe(String)
        case unsubscribe(String)
        /// A history, or what follows in it.
        case load(TopicTable.Load)
        /// Later, so that nobody waits for a history for ever.
        case giveUp(TimedWait)
    }

    private var waiting: [Wish] = []
    private var isAsking = false

    mutating func append(_ wish: Wish) {
        waiting.append(wish)
    }

    /// Takes all out that wait; `nil` where there are none, or another thread asks.
    mutating func begin() -> [Wish]? {
        guard !isAsking, !waiting.isEmpty else { return nil }
        isAsking = true
        return more()
    }

    /// Takes out what has come meanwhile; `nil` where there is none, which ends the asking.
    mutating func more() -> [Wish]? {
        guard !waiting.isEmpty else {
            isAsking = false
            return nil
        }
        defer { waiting = [] }
        return waiting
    }
}
