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
    /// What waits for a client that is behind.
    private final class Backlog {
        var queue: SlowReaderQueue<TopicEntry>
        var timer: TimerID?

        init(_ policy: SlowReaderPolicy<TopicMessage>) {
            queue = SlowReaderQueue(policy)
        }
    }

    private weak var socket: WebSocket?
    /// The next one of the same connection.
    var next: SocketSubscriber?
    private let terms: SubscriptionTerms
    private var backlog: Backlog?
    /// How many messages were dropped, and how many of them the client was told of.
    private(set) var dropped = 0
    private var toldDropped = 0

    init(_ socket: WebSocket, _ terms: SubscriptionTerms) {
        self.socket = socket
        self.terms = terms
    }

    /// Whether what the client lacks is taken from the history.
    private var waits: Bool { terms.slow.isWaiting && isKept }
    /// Whether the topic has a history.
    var isKept = false

    /// Whether nothing is missing of what it asked for.
    private(set) var isComplete = false

    /// Begins as the table says, on the loop: now, or once the history has come.
    ///
    /// - Parameter opening: called when it begins, in front of all else.
    func begin(_ start: TopicTable.Start, _ replay: TopicReplay, _ opening: @escaping Opening) {
        start.delivery.add(self, start.audience, start.slot)
        if let socket { link(to: socket) }
        guard start.isPending else { return open(start, opening) }
        (isReplaying, isKept) = (true, true)
        pending = PendingStart { [weak self] in self?.settle(replay, opening) }
    }

    private func settle(_ replay: TopicReplay, _ opening: @escaping Opening) {
        guard let list else { return }
        let now = terms.core.clock.now()
        open(terms.core.withTable { $0.start(list, replay, at: now) }, opening)
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

    /// Sends what goes in front of all that is published.
    typealias Opening = (TopicTable.Start, WebSocket) -> Void

    func isSubscribed(to core: TopicCore, _ slot: Int32) -> Bool {
        terms.core === core && list?.slot == slot
    }

    // MARK: What is published

    override func deliver(_ batch: TopicBatch, _ range: Range<Int>, gathers: Bool) {
        guard let socket else { return leave() }
        for index in range where !isReplaying && batch.first + UInt64(index) >= barrier {
            // It may have left by what became of the one before.
            guard list != nil else { return }
            offer(batch.items[index].entry, to: socket, gathers: gathers)
        }
    }

    override func overrun(_ count: Int) {
        guard let socket else { return leave() }
        guard isKept else {
            guard terms.slow.drops else { return end(socket, "The server was too busy to send what was published.") }
            dropped += count
            if backlog == nil, takesMore(socket) { tellDropped(socket) }
            return
        }
        isReplaying = true
        if backlog == nil { replay(to: socket) }
    }

    private func offer(_ entry: TopicEntry, to socket: WebSocket, gathers: Bool) {
        if let backlog { return keep(entry, in: backlog, socket) }
        // What was gathered is sent before a client is taken for one that is behind: it may read as fast as that.
        if gathers, !takesMore(socket) { socket.onLoop(socket.loop) { socket, _ in socket.sendGathered() } }
        guard list != nil, backlog == nil, !isReplaying else { return }
        let isTaken = socket.onLoop(socket.loop, (frame(of: entry), gathers)) { socket, sent in
            guard socket.takesMore else { return false }
            if sent.1 { socket.gather(sent.0) } else { socket.enqueue(sent.0) }
            return true
        }
        if isTaken {
            passed(entry)
        } else if waits {
            isReplaying = true
        } else {
            let backlog = Backlog(terms.slow.isWaiting ? .end() : terms.slow)
            self.backlog = backlog
            keep(entry, in: backlog, socket)
        }
    }

    private func keep(_ entry: TopicEntry, in backlog: Backlog, _ socket: WebSocket) {
        passed(entry)
        let before = backlog.queue.dropped
        let key = terms.slow.hasKeys ? terms.slow.key(of: entry.topicMessage()) : nil
        let outcome = backlog.queue.append(entry, size: entry.size, key: key, at: socket.loop.core.now)
        dropped += backlog.queue.dropped - before
        switch outcome {
        case .kept, .leftOut: arm(backlog, socket)
        case .senderWaits, .readerEnds: end(socket, "The client takes less than is published.")
        }
    }

    // MARK: Catching up

    /// There is room for what waits.
    func catchUp(_ socket: WebSocket) {
        guard let backlog else {
            tellDropped(socket)
            return replay(to: socket)
        }
        if !terms.slow.dropsNewest { tellDropped(socket) }
        while takesMore(socket) {
            guard let entry = backlog.queue.popFirst() else {
                self.backlog = nil
                if let timer = backlog.timer { socket.loop.core.cancel(timer) }
                tellDropped(socket)
                return replay(to: socket)
            }
            gather(frame(of: entry), to: socket)
        }
    }

    /// Takes what the client lacks from the history, as far as there is room.
    func replay(to socket: WebSocket) {
        while isReplaying, list != nil, takesMore(socket), let list {
            let (slot, number, delivery) = (list.slot, number, list.delivery)
            if pending != nil { return }
            switch terms.core.withTable({ $0.next(in: slot, behind: number, delivery) }) {
            case .entries(let entries):
                for entry in entries where takesMore(socket) {
                    gather(frame(of: entry), to: socket)
                    self.number = entry.number
                }
            case .live(let barrier):
                self.barrier = barrier
                isReplaying = false
            case .lost(let first): skip(to: first, socket)
            }
        }
    }

    /// Some of what the client lacks isn't kept any more.
    private func skip(to first: UInt64, _ socket: WebSocket) {
        guard terms.slow.drops else { return end(socket, "What the client lacks isn't kept any more.") }
        dropped += Int(clamping: first - 1 - number)
        number = first - 1
        tellDropped(socket)
    }

    private func tellDropped(_ socket: WebSocket) {
        guard dropped != toldDropped, let message = terms.missed?(dropped - toldDropped) else { return }
        toldDropped = dropped
        gather(PreparedMessage(message), to: socket)
    }

    private func takesMore(_ socket: WebSocket) -> Bool {
        socket.onLoop(socket.loop) { socket, _ in socket.takesMore }
    }

    private func frame(of entry: TopicEntry) -> PreparedMessage {
        terms.isEnveloped ? entry.envelope : entry.frame
    }

    private func gather(_ frame: PreparedMessage, to socket: WebSocket) {
        socket.onLoop(socket.loop, frame) { $0.gather($1) }
    }

    // MARK: The end

    /// Closes the connection of a client that is too slow.
    private func end(_ socket: WebSocket, _ reason: String) {
        leave()
        let (code, core) = (terms.closeCode, socket.loop.core)
        if let timer = backlog?.timer { core.cancel(timer) }
        backlog = nil
        socket.onLoop(socket.loop, (code, reason)) { $0.beginClose($1.0, reason: $1.1) }
    }

    /// Takes the subscription out of its topic and of its connection; twice is the same as once.
    func leave() {
        guard let list else { return }
        let (slot, delivery) = (list.slot, list.delivery)
        delivery.remove(self)
        if let timer = backlog?.timer { delivery.loop.core.cancel(timer) }
        backlog = nil
        terms.core.leave(slot, delivery)
        pending.take()?.end()
        if let socket { unlink(from: socket) }
    }

    private func arm(_ backlog: Backlog, _ socket: WebSocket) {
        guard backlog.timer == nil, let deadline = backlog.queue.deadline else { return }
        backlog.timer = socket.loop.core.schedule(self, at: deadline)
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard let backlog, timer == backlog.timer, let socket else { return }
        backlog.timer = nil
        guard let deadline = backlog.queue.deadline else { return }
        if deadline <= now { end(socket, "The client has been behind for too long.") } else { arm(backlog, socket) }
    }
}
/// What a subscription was made with; subscriptions that are made alike may share it.
final class SubscriptionTerms: Sendable {
    let core: TopicCore
    let slow: SlowReaderPolicy<TopicMessage>
    let closeCode: CloseCode
    let missed: (@Sendable (Int) -> Message?)?
    /// Whether messages go in JSON, with their topics.
    var isEnveloped: Bool { form == .enveloped }
    private let form: Form

    /// How messages go to the client.
    enum Form: Sendable {
        case plain
        case enveloped
    }

    init(
        _ core: TopicCore,
        _ slow: SlowReaderPolicy<TopicMessage>,
        _ closeCode: CloseCode,
        _ missed: (@Sendable (Int) -> Message?)?,
        _ form: Form = .plain
    ) {
        self.core = core
        self.slow = slow
        self.closeCode = closeCode
        self.missed = missed
        self.form = form
    }
}
