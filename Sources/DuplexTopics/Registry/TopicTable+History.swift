// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

// What is kept of topics, and how subscribers catch up by it.

extension TopicTable {
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
