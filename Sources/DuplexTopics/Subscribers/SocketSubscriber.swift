// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// A WebSocket's subscription to one topic or pattern.
///
/// As long as the client takes what is sent, that goes straight to its connection. What is published while it is behind waits
/// here as its policy says, or is taken from the history later.
final class SocketSubscriber: TopicMember, TimerTarget {
    private weak var socket: WebSocket?
    /// The next one of the same connection.
    var next: SocketSubscriber?
    private let terms: SubscriptionTerms
    /// Of a client that is behind, or was.
    private(set) var backlog: SocketBacklog?

    init(_ socket: WebSocket, _ terms: SubscriptionTerms) {
        self.socket = socket
        self.terms = terms
    }

    /// How many messages were dropped because the client was behind.
    var dropped: Int { backlog?.dropped ?? 0 }
    /// Whether something waits here for the client, and what comes has to wait behind it.
    private var isWaiting: Bool { backlog?.isWaiting ?? false }
    /// Whether what the client lacks is taken from the history.
    private var waits: Bool { terms.slow.isWaiting && isKept }
    /// Whether there is more for the client than it has been given.
    var isBehind: Bool { list != nil && pending == nil && (isReplaying || isWaiting) }

    /// Sends what goes in front of all that is published.
    typealias Opening = (TopicTable.Start, WebSocket) -> Void

    /// Begins as the table says, on the loop: now, or once the history has come.
    ///
    /// - Parameters:
    ///   - start: what the table says.
    ///   - replay: what was asked for of the past.
    ///   - opening: called when it begins, in front of all else.
    func begin(_ start: TopicTable.Start, _ replay: TopicReplay, _ opening: @escaping Opening) {
        start.delivery.add(self, start.audience, start.slot)
        if let socket { link(to: socket) }
        guard start.isPending else { return open(start, opening) }
        (isReplaying, isKept) = (true, true)
        pending = PendingStart { [weak self] in self?.settle(replay, mayWait: $0, opening) ?? true }
    }

    private func settle(_ replay: TopicReplay, mayWait: Bool, _ opening: Opening) -> Bool {
        guard let list else { return true }
        guard let start = terms.core.start(list, replay, mayWait: mayWait) else { return false }
        open(start, opening)
        return true
    }

    private func open(_ start: TopicTable.Start, _ opening: Opening) {
        barrier = start.barrier
        isKept = start.isKept
        isComplete = start.isComplete
        number = start.begins
        isReplaying = start.number != nil
        guard let socket else { return }
        opening(start, socket)
        self.replay(to: socket)
    }

    func isSubscribed(to core: TopicCore, _ slot: Int32) -> Bool {
        terms.core === core && list?.slot == slot
    }

    // MARK: What is published

    override func deliver(_ run: inout TopicRun) {
        guard let socket else { return leave() }
        for index in run.range where !isReplaying && run.isFor(self, index) {
            // It may have left because of the one before.
            guard list != nil else { return }
            offer(index, &run, to: socket)
        }
    }

    override func overrun(_ count: Int, _ counts: inout TopicCounts) {
        guard let socket else { return leave() }
        guard isKept else {
            guard terms.slow.drops else {
                return end(socket, "The server was too busy to send what was published.", &counts)
            }
            backlog(socket).drop(count)
            counts.dropped += count
            if !isWaiting, takesMore(socket) { tellDropped(socket) }
            return
        }
        isReplaying = true
        if !isWaiting { replay(to: socket, .max, &counts) }
    }

    private func offer(_ index: Int, _ run: inout TopicRun, to socket: WebSocket) {
        let entry = run.entry(index)
        // What lies between was missed while others couldn't be reached, and isn't kept any more.
        if isKept, number > 0, entry.number > number + 1 {
            isReplaying = true
            return replay(to: socket, .max, &run.counts)
        }
        if entry.isRepeat { return passed(entry) }
        if isWaiting { return keep(entry, socket, &run.counts) }
        // What was gathered is sent before a client is taken for one that is behind: it may read as fast as that.
        if run.gathers, !takesMore(socket) { socket.onLoop(socket.loop) { socket, _ in socket.sendGathered() } }
        guard list != nil else { return }
        if takesMore(socket) {
            let frame = run.frame(index, isEnveloped: terms.isEnveloped, terms.core.forms)
            socket.onLoop(socket.loop, (frame, run.gathers)) { socket, sent in
                if sent.1 { socket.gather(sent.0) } else { socket.enqueue(sent.0) }
            }
            passed(entry)
            run.counts.delivered += 1
        } else if waits {
            isReplaying = true
        } else {
            keep(entry, socket, &run.counts)
        }
    }

    private func keep(_ entry: TopicEntry, _ socket: WebSocket, _ counts: inout TopicCounts) {
        passed(entry)
        let backlog = backlog(socket)
        let before = backlog.dropped
        let bound = terms.core.options.backlogOfConnection.bytes
        let stays = backlog.keep(entry, terms.slow, bound, at: socket.loop.core.now)
        counts.dropped += backlog.dropped - before
        // It may have left by what the key's closure did.
        guard list != nil else { return backlog.removeAll() }
        if stays { arm(socket) } else { end(socket, "The client takes less than is published.", &counts) }
    }

    /// What waits here, made where there is none yet.
    private func backlog(_ socket: WebSocket) -> SocketBacklog {
        if let backlog { return backlog }
        let others = socket.onLoop(socket.loop) { socket, _ in
            socket.firstSubscriber?.all.lazy.compactMap(\.backlog).first?.connection
        }
        let made = SocketBacklog(others ?? SocketBacklog.Connection())
        backlog = made
        return made
    }

    // MARK: Catching up

    /// Gives the client what waits, or what it lacks, while there is room: about `share` bytes at most.
    func catchUp(_ socket: WebSocket, _ share: Int = .max) {
        var counts = TopicCounts()
        defer { terms.core.tally.add(counts) }
        var left = share
        if !isWaiting || !terms.slow.dropsNewest { tellDropped(socket) }
        while isWaiting {
            guard left > 0, list != nil, takesMore(socket) else { return }
            guard let entry = backlog?.popFirst() else {
                disarm(socket.loop.core)
                tellDropped(socket)
                break
            }
            left -= entry.size
            counts.delivered += 1
            gather(frame(of: entry), to: socket)
        }
        self.replay(to: socket, left, &counts)
    }

    /// Gives a new subscriber what it asked for of the past, as far as there is room.
    func replay(to socket: WebSocket) {
        var counts = TopicCounts()
        replay(to: socket, .max, &counts)
        terms.core.tally.add(counts)
    }

    /// Takes what the client lacks from the history, as far as there is room.
    private func replay(to socket: WebSocket, _ share: Int, _ counts: inout TopicCounts) {
        guard isReplaying, pending == nil else { return }
        let begin = number
        var left = share
        while isReplaying, left > 0, let list, takesMore(socket) {
            let (slot, number, delivery) = (list.slot, number, list.delivery)
            switch terms.core.withTable({ $0.next(in: slot, behind: number, delivery) }) {
            case .entries(let entries):
                for entry in entries {
                    guard left > 0, self.list != nil, takesMore(socket) else { break }
                    gather(frame(of: entry), to: socket)
                    self.number = entry.number
                    left -= entry.size
                    counts.delivered += 1
                }
            case .live(let barrier):
                self.barrier = barrier
                isReplaying = false
            case .lost(let first): skip(to: first, socket, &counts)
            }
        }
        watch(socket, hasTaken: number != begin)
    }

    /// Has a client that takes nothing of the history ended by its patience.
    private func watch(_ socket: WebSocket, hasTaken: Bool) {
        guard list != nil, terms.slow.patience != nil, !isWaiting else { return }
        guard isReplaying else {
            backlog?.stalledSince = nil
            return disarm(socket.loop.core)
        }
        let backlog = backlog(socket)
        if hasTaken || backlog.stalledSince == nil { backlog.stalledSince = socket.loop.core.now }
        arm(socket)
    }

    /// Some of what the client lacks isn't kept any more.
    private func skip(to first: UInt64, _ socket: WebSocket, _ counts: inout TopicCounts) {
        guard terms.slow.drops else {
            return end(socket, "What the client lacks isn't kept any more.", &counts)
        }
        if first > number + 1 {
            let count = Int(clamping: first - 1 - number)
            backlog(socket).drop(count)
            counts.dropped += count
        }
        number = first - 1
        tellDropped(socket)
    }

    private func tellDropped(_ socket: WebSocket) {
        guard let list, let backlog, backlog.dropped != backlog.told else { return }
        guard let notice = terms.notice(backlog.dropped - backlog.told, list.slot) else { return }
        backlog.told = backlog.dropped
        gather(PreparedMessage(notice), to: socket)
    }

    private func takesMore(_ socket: WebSocket) -> Bool {
        socket.onLoop(socket.loop) { socket, _ in socket.takesMore }
    }

    private func frame(of entry: TopicEntry) -> PreparedMessage {
        let forms = terms.core.forms
        return terms.isEnveloped ? entry.envelope(forms) : entry.frame(forms)
    }

    private func gather(_ frame: PreparedMessage, to socket: WebSocket) {
        socket.onLoop(socket.loop, frame) { $0.gather($1) }
    }

    // MARK: The end

    /// Closes the connection of a client that is too slow.
    private func end(_ socket: WebSocket, _ reason: String, _ counts: inout TopicCounts) {
        leave()
        counts.ended += 1
        let code = terms.closeCode
        socket.onLoop(socket.loop, (code, reason)) { $0.beginClose($1.0, reason: $1.1) }
    }

    /// Takes the subscription out of its topic and of its connection; twice is the same as once.
    func leave() {
        guard let list else { return }
        let (slot, delivery) = (list.slot, list.delivery)
        delivery.remove(self)
        disarm(delivery.loop.core)
        backlog?.removeAll()
        terms.core.leave(slot, delivery)
        pending.take()?.end()
        if let socket { unlink(from: socket) }
    }

    private func arm(_ socket: WebSocket) {
        guard let backlog, backlog.timer == nil, let deadline = backlog.deadline(terms.slow.patience) else { return }
        backlog.timer = socket.loop.core.schedule(self, at: deadline)
    }

    private func disarm(_ core: LoopCore) {
        guard let timer = backlog?.timer.take() else { return }
        core.cancel(timer)
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard let backlog, timer == backlog.timer, let socket else { return }
        backlog.timer = nil
        guard let deadline = backlog.deadline(terms.slow.patience) else { return }
        guard deadline <= now else { return arm(socket) }
        var counts = TopicCounts()
        end(socket, "The client has been behind for too long.", &counts)
        terms.core.tally.add(counts)
    }
}

extension SocketSubscriber: SocketFollower {
    // The first subscription of a connection stands for all of them, so that one costs no more than itself.

    /// About how many bytes one subscription sends before the next one has its turn.
    private static let share = 16_384

    /// Gives each subscription that is behind its turn, until there is no more room; the one that would be next begins then.
    func becameWritable(_ socket: isolated WebSocket) {
        var waiting = all.filter { $0.pending == nil && ($0.backlog != nil || $0.isReplaying) }
        var turn = 0
        while !waiting.isEmpty, socket.takesMore {
            waiting[turn].catchUp(socket, waiting.count == 1 ? .max : Self.share)
            turn += 1
            if turn == waiting.count {
                waiting.removeAll { !$0.isBehind }
                turn = 0
            }
        }
        if turn < waiting.count { waiting[turn].goFirst(socket) }
    }

    var droppedMessages: Int { all.reduce(0) { $0 + $1.dropped } }

    /// Puts it in front of those of its connection; who was in front of it follows at the end.
    private func goFirst(_ socket: isolated WebSocket) {
        let order = socket.firstSubscriber?.all ?? []
        guard let place = order.firstIndex(where: { $0 === self }), place > 0 else { return }
        order[place - 1].next = nil
        order[order.count - 1].next = order[0]
        socket.firstSubscriber = self
    }

    func ended() {
        for subscriber in all {
            subscriber.leave()
            subscriber.next = nil
        }
    }

    /// Puts it in front of the others of its connection.
    func link(to socket: WebSocket) {
        socket.onLoop(socket.loop, self) { socket, subscriber in
            subscriber.next = socket.firstSubscriber
            socket.firstSubscriber = subscriber
        }
    }

    /// Takes it out of those of its connection.
    func unlink(from socket: WebSocket) {
        socket.onLoop(socket.loop, self) { socket, left in
            guard let first = socket.firstSubscriber else { return }
            if first === left {
                socket.firstSubscriber = left.next
            } else {
                first.all.first { $0.next === left }?.next = left.next
            }
            left.next = nil
        }
    }

    /// This one and those behind it.
    var all: [SocketSubscriber] {
        var found: [SocketSubscriber] = []
        var next: SocketSubscriber? = self
        while let subscriber = next {
            found.append(subscriber)
            next = subscriber.next
        }
        return found
    }
}

/// What waits for a subscription whose client is behind, and what was dropped for it; made when that is needed first.
final class SocketBacklog {
    /// All that waits for one connection.
    final class Connection {
        fileprivate(set) var size = 0
    }

    /// When the client is looked at for whether it has been behind for too long.
    var timer: TimerID?
    /// Since when it has taken nothing of the history that it is to be given.
    var stalledSince: Instant?
    /// How many messages were dropped, and how many of them were reported to the client.
    private(set) var dropped = 0
    var told = 0
    let connection: Connection
    private var queue: SlowReaderQueue<TopicEntry>?

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Whether something waits.
    var isWaiting: Bool { queue != nil }

    /// When the client is to be ended, unless it has caught up before.
    func deadline(_ patience: Duration?) -> Instant? {
        if let queue { return queue.deadline }
        return patience.flatMap { stalledSince?.advanced(by: $0) }
    }

    /// Counts messages that are dropped.
    func drop(_ count: Int) {
        dropped += count
    }

    /// Has a message wait, or what else the policy says; so many bytes may wait for the connection.
    ///
    /// - Returns: whether the client may stay.
    func keep(_ entry: TopicEntry, _ policy: SlowReaderPolicy<TopicMessage>, _ bound: Int, at now: Instant) -> Bool {
        guard makeRoom(for: entry.size, policy, max(bound, policy.size.bytes)) else {
            if policy.drops { dropped += 1 }
            return policy.drops
        }
        let key = policy.hasKeys ? policy.key(of: entry.topicMessage()) : nil
        if queue == nil { queue = SlowReaderQueue(policy.isWaiting ? .end() : policy) }
        let before = (queue?.byteCount ?? 0, queue?.dropped ?? 0)
        let outcome = queue?.append(entry, size: entry.size, key: key, at: now)
        connection.size += (queue?.byteCount ?? 0) - before.0
        dropped += (queue?.dropped ?? 0) - before.1
        return outcome == .kept || outcome == .leftOut
    }

    /// Makes room in what may wait for the connection; one message alone may be longer.
    private func makeRoom(for size: Int, _ policy: SlowReaderPolicy<TopicMessage>, _ bound: Int) -> Bool {
        if policy.drops, !policy.dropsNewest {
            while connection.size > 0, size > bound - connection.size, pop() != nil { dropped += 1 }
        }
        return connection.size == 0 || size <= bound - connection.size
    }

    private func pop() -> TopicEntry? {
        guard let entry = queue?.popFirst() else { return nil }
        connection.size -= entry.size
        return entry
    }

    /// Takes out what has waited longest; once nothing waits any more, `nil`.
    func popFirst() -> TopicEntry? {
        if let entry = pop() { return entry }
        queue = nil
        return nil
    }

    /// Takes out all that waits.
    func removeAll() {
        while pop() != nil {}
        queue = nil
        stalledSince = nil
    }
}
