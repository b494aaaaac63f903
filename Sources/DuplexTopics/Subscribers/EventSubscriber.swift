// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire

/// An event stream's subscription to one topic or pattern; belongs to its loop's thread.
///
/// What is published goes to the outlet of the stream, whose policy decides about a client that is behind.
final class EventSubscriber: TopicMember, EventSource {
    private let core: TopicCore
    private let outlet: EventOutlet
    private var isKept = false
    /// Called when it is to end, where a handler decides what becomes of the stream then.
    private let handlerEnds: (@Sendable (TopicError?) -> Void)?

    init(_ core: TopicCore, _ outlet: EventOutlet, handlerEnds: (@Sendable (TopicError?) -> Void)? = nil) {
        self.core = core
        self.outlet = outlet
        self.handlerEnds = handlerEnds
    }

    private var loop: EventLoop { outlet.loop }
    private var isBehind: Bool { outlet.onLoop(loop) { outlet, _ in outlet.isBehind } }

    /// What a client that comes back wants to be sent first; `nil` for a new one.
    static func replay(_ request: Request) -> TopicReplay? {
        request.lastEventID.map { .after(TopicPosition($0) ?? TopicPosition(epoch: $0, offset: 0)) }
    }

    /// Joins a topic.
    ///
    /// - Parameter later: called where the history is on its way, once it has come, with where it begins; nothing of what is published
    ///   comes before.
    /// - Returns: where it begins.
    func join(
        _ name: String,
        _ replay: TopicReplay,
        on loop: EventLoop,
        later: @escaping (TopicTable.Start) -> Void
    ) throws(TopicError) -> TopicTable.Start {
        let start = try core.join(name, on: loop, replay)
        start.delivery.add(self, start.audience, start.slot)
        guard start.isPending else {
            begin(start)
            return start
        }
        (isReplaying, isKept) = (true, true)
        pending = PendingStart { [weak self] in self?.settle(replay, later) }
        return start
    }

    private func settle(_ replay: TopicReplay, _ later: (TopicTable.Start) -> Void) {
        guard let list else { return }
        let now = core.clock.now()
        let start = core.withTable { $0.start(list, replay, at: now) }
        begin(start)
        later(start)
        self.replay()
    }

    private func begin(_ start: TopicTable.Start) {
        barrier = start.barrier
        isKept = start.isKept
        number = start.begins
        isReplaying = start.number != nil
    }

    /// Tells a client where it is before the next event comes: it may be cut off before.
    func tellPlace(_ start: TopicTable.Start) {
        guard start.number == nil, let event = try? ServerSentEvent(nil, id: start.position?.description) else {
            return
        }
        tell(event)
    }

    // MARK: What is published

    override func deliver(_ batch: TopicBatch, _ range: Range<Int>, gathers: Bool) {
        for index in range where !isReplaying && batch.first + UInt64(index) >= barrier {
            guard list != nil else { return }
            let entry = batch.items[index].entry
            if outlet.isWaiting && isBehind {
                if isKept { isReplaying = true } else { end(Self.isTooSlow) }
            } else {
                offer(entry)
            }
        }
    }

    override func overrun(_ count: Int) {
        guard isKept else { return end(Self.isTooSlow) }
        isReplaying = true
        if !isBehind { replay() }
    }

    /// Gives the client what the history has behind the last message, as far as there is room.
    func replay() {
        while isReplaying, pending == nil, !isBehind, let list {
            let (slot, number, delivery) = (list.slot, number, list.delivery)
            switch core.withTable({ $0.next(in: slot, behind: number, delivery) }) {
            case .entries(let entries): for entry in entries where !isBehind { offer(entry) }
            case .live(let barrier):
                self.barrier = barrier
                isReplaying = false
            // A stream has no gap: the client is told of it when it comes back.
            case .lost: end(Self.isTooSlow)
            }
        }
    }

    private func offer(_ entry: TopicEntry) {
        guard let event = entry.event else { return }
        do {
            try outlet.onLoop(loop, event) { (outlet, event) throws in
                try outlet.offer(event.bytes, of: event.event)
            }
            passed(entry)
        } catch {
            // It has been ended, and its follower told.
        }
    }

    /// Tells the client of something before what is published.
    func tell(_ event: ServerSentEvent) {
        try? outlet.onLoop(loop, event) { (outlet, event) throws in try outlet.offer(event.bytes, of: event) }
    }

    // MARK: The end

    private static let isTooSlow = TopicError(.slowSubscriber, "The client takes less than is published.")

    private func end(_ error: TopicError?) {
        if let handlerEnds { return handlerEnds(error) }
        outlet.onLoop(loop) { outlet, _ in outlet.finish() }
    }

    func hasRoom() {
        replay()
    }

    func isToEnd() {
        end(nil)
    }

    func ended() {
        leave()
        handlerEnds?(nil)
    }

    /// Takes the subscription out of its topic; twice is the same as once.
    func leave() {
        guard let list else { return }
        let (slot, delivery) = (list.slot, list.delivery)
        delivery.remove(self)
        core.leave(slot, delivery)
    }
}
