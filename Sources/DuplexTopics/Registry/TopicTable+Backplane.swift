// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

// Topics that a backplane joins with those of other nodes: what comes from it, and this node's copies of what it keeps.

extension TopicTable {
    /// A history that is to be asked for.
    struct Load: Sendable, Hashable {
        var topic: String
        var slot: Int32
        var audience: UInt64
        /// The offset behind which it is wanted.
        var number: UInt64
        /// Which of the questions about this topic it is.
        var id: UInt64
        /// How often an answer before it was of no use.
        var tries = 0
    }

    /// What is to be done behind something that came from the backplane, without the lock.
    struct Received: Sendable {
        var published = Published()
        var load: Load?
        /// The loops whose subscriptions begin now, and the topic's audience.
        var settled: [LoopDelivery] = []
        var audience: UInt64 = 0
        /// Whether they begin in any case, with what there is.
        var isFinal = false
    }

    // MARK: What comes

    /// A message has come by a subscription.
    mutating func receive(_ message: BackplaneMessage, by subscription: String, at now: Instant) -> Received {
        var received = Received()
        let bound = earlyBound
        defer { sweepOne(at: now) }
        guard let slot = slot(of: subscription) else { return received }
        guard let copy = copies[slot], message.position != nil else {
            let entry = TopicEntry(message.topic, message.position, .message(message.message), number: 0)
            hand(entry, to: slot, &received.published)
            return received
        }
        switch copy.state {
        case .away: break
        case .loading: copies[slot]?.append(message, bound)
        case .live:
            guard !take(message, slot, &received.published, at: now) else { break }
            copies[slot]?.state = .loading
            copies[slot]?.append(message, bound)
            received.load = load(slot, subscription)
        }
        return received
    }

    /// Adds a message to the copy and hands it to the subscribers, if it is the next one.
    ///
    /// - Returns: false where something is missing in front of it.
    private mutating func take(
        _ message: BackplaneMessage,
        _ slot: Int32,
        _ published: inout Published,
        at now: Instant,
        hands: Bool = true
    ) -> Bool {
        guard let history = histories[slot], let position = message.position else { return true }
        let last = history.position
        guard position.epoch == last.epoch, position.offset <= last.offset &+ 1 else { return false }
        // It has come before, by the history or by the subscription.
        guard position.offset == last.offset &+ 1 else { return true }
        let number = history.number(of: position.offset)
        let isRepeat = copies[slot]?.hasTaken(message) ?? false
        let isAfterGap = hands && !isRepeat && copies[slot]?.hasGap == true
        if isAfterGap { copies[slot]?.hasGap = false }
        let entry = TopicEntry(
            message.topic,
            position,
            .message(message.message),
            number: number,
            isAfterGap: isAfterGap,
            isRepeat: isRepeat
        )
        keep(entry, slot, now)
        if hands { hand(entry, to: slot, &published) }
        return true
    }

    private mutating func load(_ slot: Int32, _ topic: String, isWhole: Bool = false, tries: Int = 0) -> Load {
        let isKnown = !isWhole && copies[slot]?.hasLoaded == true
        let number = isKnown ? histories[slot]?.position.offset ?? 0 : 0
        copies[slot]?.loads += 1
        let id = copies[slot]?.loads ?? 0
        return Load(topic: topic, slot: slot, audience: audience(of: slot), number: number, id: id, tries: tries)
    }

    // MARK: Subscriptions

    /// The backplane's subscription holds: what is kept of the topic is to be loaded, and then it is live.
    mutating func subscribed(_ name: String) -> Load? {
        guard let slot = slot(of: name), copies[slot] != nil else { return nil }
        let bound = earlyBound
        copies[slot]?.state = .loading
        copies[slot]?.setAside(bound)
        return load(slot, name)
    }

    /// Messages may be missed until it is subscribed again.
    mutating func interrupted(_ name: String) {
        let bound = earlyBound
        if let slot = slot(of: name) { copies[slot]?.interrupt(bound) }
    }

    /// Whether a history is still to be loaded.
    func isWanted(_ load: Load) -> Bool {
        guard audience(of: load.slot) == load.audience, let copy = copies[load.slot] else { return false }
        return copy.state != .away && copy.loads == load.id
    }

    /// What is kept of a topic has come.
    mutating func loaded(_ load: Load, _ kept: BackplaneHistory, at now: Instant) -> Received {
        var received = Received()
        let slot = load.slot
        guard isWanted(load) else { return received }
        guard kept.isSound else {
            received.load = self.load(slot, load.topic, tries: load.tries + 1)
            return received
        }
        guard !takeGone(kept.position.epoch, slot, &received, at: now) else {
            // Those who begin now take it before the history becomes another one.
            copies[slot]?.state = .loading
            received.load = self.load(slot, load.topic, isWhole: true, tries: load.tries + 1)
            return received
        }
        guard adopt(kept, load) else {
            copies[slot]?.state = .loading
            received.load = self.load(slot, load.topic, isWhole: true, tries: load.tries + 1)
            return received
        }
        let early = (copies[slot]?.takeBefore() ?? []) + (copies[slot]?.takeEarly() ?? [])
        // What lay before the first subscription isn't news; to those who have begun without it, it may be.
        let news = copies[slot]?.isSettled == true ? 0 : early.first?.position?.offset ?? .max
        let first = kept.messages.firstIndex { $0.position?.offset ?? 0 >= news } ?? kept.messages.count
        for message in kept.messages[..<first] { _ = take(message, slot, &received.published, at: now, hands: false) }
        copies[slot]?.state = .live
        copies[slot]?.hasLoaded = true
        copies[slot]?.wasInterrupted = false
        settle(slot, &received, isFinal: false, at: now)
        for message in kept.messages[first...] { _ = take(message, slot, &received.published, at: now) }
        takeEarly(early, load, &received, at: now)
        return received
    }

    /// Takes in what came before an interruption by numbers that are gone: the server has lost its memory since, and nobody but this
    /// node has these messages.
    ///
    /// - Returns: whether there were any.
    private mutating func takeGone(
        _ epoch: String,
        _ slot: Int32,
        _ received: inout Received,
        at now: Instant
    ) -> Bool {
        let gone = copies[slot]?.takeBefore { $0.epoch != epoch } ?? []
        for message in gone where !take(message, slot, &received.published, at: now) {
            guard let position = message.position else { continue }
            // Something is missing in front of it, and stays so.
            let behind = TopicPosition(epoch: position.epoch, offset: position.offset - 1)
            let passed = BackplaneHistory(position: behind, messages: [])
            _ = adopt(passed, Load(topic: message.topic, slot: slot, audience: audience(of: slot), number: 0, id: 0))
            copies[slot]?.hasLoaded = true
            settle(slot, &received, isFinal: false, at: now)
            _ = take(message, slot, &received.published, at: now)
        }
        return !gone.isEmpty
    }

    /// Adds what came while the history was on its way; where something is still missing in front of it, that is loaded.
    private mutating func takeEarly(
        _ early: [BackplaneMessage],
        _ load: Load,
        _ received: inout Received,
        at now: Instant
    ) {
        let bound = earlyBound
        for (index, message) in early.enumerated() where !take(message, load.slot, &received.published, at: now) {
            // What the backplane doesn't know of even now belongs to a history that is gone.
            guard load.tries < 3 else { continue }
            copies[load.slot]?.state = .loading
            for message in early[index...] { copies[load.slot]?.append(message, bound) }
            received.load = self.load(load.slot, load.topic, tries: load.tries + 1)
            return
        }
    }

    /// How many bytes wait for a history that is on its way: dropped, they are loaded again.
    private var earlyBound: Int { min(options.loopBacklog.bytes, 1_024 * 1_024) }

    /// Has the copy go on where the backplane's history does: with its numbers, and behind what isn't kept any more.
    ///
    /// - Returns: false where the numbers are others than those that were asked about: all that is kept is wanted.
    private mutating func adopt(_ kept: BackplaneHistory, _ load: Load) -> Bool {
        guard let last = histories[load.slot]?.position else { return true }
        let first = kept.messages.first?.position?.offset ?? kept.position.offset + 1
        let asked = load.number == 0 ? last.offset : load.number
        // Fewer than there were are others: the server has lost what it had.
        let isSame = last.epoch == kept.position.epoch && kept.position.offset >= asked
        guard isSame || load.number == 0 else { return false }
        guard !isSame || first > last.offset &+ 1 else { return true }
        if let copy = copies[load.slot], copy.hasLoaded {
            if isSame {
                missed(Int(clamping: first - 1 - last.offset), load.slot)
            } else if copy.wasInterrupted {
                copies[load.slot]?.hasGap = true
            }
        }
        change(load.slot) { $0.restart(kept.position.epoch, behind: first - 1) }
        return true
    }

    // MARK: Those who wait

    /// Whether a subscription has to wait for the topic's history: what there is may not be what it asks for.
    mutating func mustWait(for slot: Int32, _ replay: TopicReplay) -> Bool {
        guard let copy = copies[slot] else { return false }
        if copy.isSettled {
            guard case .after(let position) = replay, let last = histories[slot]?.position else { return false }
            if position.epoch == last.epoch, position.offset <= last.offset { return false }
            // Another node may have got further, or know of other numbers already. Those who have begun don't wait for that.
            if copy.state == .live {
                wishes.append(.load(load(slot, name(of: slot) ?? "")))
            }
        }
        wait(for: slot)
        return true
    }

    /// Somebody waits: for a time, which begins now unless it runs.
    private mutating func wait(for slot: Int32) {
        guard let copy = copies[slot], !copy.isTimed else { return }
        copies[slot]?.isTimed = true
        copies[slot]?.waits += 1
        wishes.append(.giveUp(TimedWait(slot: slot, audience: audience(of: slot), number: copy.waits + 1)))
    }

    /// Those who wait for a history begin with what there is.
    mutating func giveUp(_ wait: TimedWait, at now: Instant) -> Received {
        var received = Received()
        guard audience(of: wait.slot) == wait.audience, let copy = copies[wait.slot], copy.isTimed,
            copy.waits == wait.number
        else { return received }
        copies[wait.slot]?.isGivenUp = true
        settle(wait.slot, &received, isFinal: true, at: now)
        return received
    }

    private mutating func settle(_ slot: Int32, _ received: inout Received, isFinal: Bool, at now: Instant) {
        let waiting = copies[slot]?.listeners ?? []
        copies[slot]?.listeners = []
        copies[slot]?.isTimed = false
        // Whoever waits and wanted nothing of the past has waited since before the first time.
        if copies[slot]?.settledNumber == nil { copies[slot]?.settledNumber = histories[slot]?.lastNumber ?? 0 }
        for var one in waiting {
            if !isFinal, one.waits > 0, mustWait(for: slot, one.replay) {
                one.waits -= 1
                copies[slot]?.listeners.append(one)
            } else if begin(one.listener, slot, one.replay, isAwaited: true, at: now) {
                received.published.listeners.append(one.listener)
            }
        }
        received.settled = deliveries(of: slot)
        received.audience = audience(of: slot)
        received.isFinal = isFinal
    }

    /// Where a subscription begins that has waited for the history.
    mutating func start(_ members: TopicMembers, _ replay: TopicReplay, at now: Instant) -> Start {
        let slot = members.slot
        var start = start(slot, members.delivery, replay, at: now)
        // What came since the history was there is news to who wanted nothing of the past.
        if replay == .none, let history = histories[slot], let number = copies[slot]?.settledNumber,
            number < history.lastNumber
        {
            start.number = number
            (start.begins, start.offset) = (number, history.offset(of: number))
        }
        return start
    }
}
