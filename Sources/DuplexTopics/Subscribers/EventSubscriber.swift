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
    /// What the client gets before anything else, once it has caught up.
    private var untold: [ServerSentEvent] = []
    /// Called when it is to end, where a handler decides what happens to the stream then.
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
    /// - Parameters:
    ///   - name: the topic.
    ///   - replay: what is given of the past.
    ///   - loop: the stream's.
    ///   - later: called where the history is on its way, once it has come, with where it begins; nothing of what is published
    ///     comes before.
    /// - Returns: where it begins.
    /// - Throws: ``TopicError``.
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
        pending = PendingStart { [weak self] in self?.settle(replay, mayWait: $0, later) ?? true }
        return start
    }

    private func settle(_ replay: TopicReplay, mayWait: Bool, _ later: (TopicTable.Start) -> Void) -> Bool {
        guard let list else { return true }
        guard let start = core.start(list, replay, mayWait: mayWait) else { return false }
        begin(start)
        later(start)
        self.replay()
        return true
    }

    /// Tells a client where it is before the next event comes: it may be cut off before.
    func tellPlace(_ start: TopicTable.Start) {
        guard start.number == nil, let event = try? ServerSentEvent(nil, id: start.position?.description) else {
            return
        }
        tell(event)
    }

    private func begin(_ start: TopicTable.Start) {
        barrier = start.barrier
        isKept = start.isKept
        number = start.begins
        isReplaying = start.number != nil
    }

    // MARK: What is published

    override func deliver(_ run: inout TopicRun) {
        for index in run.range where !isReplaying && run.isFor(self, index) {
            guard list != nil else { return }
            // What lies between was missed while others couldn't be reached, and isn't kept any more.
            if isKept, number > 0, run.entry(index).number > number + 1 {
                isReplaying = true
                replay(&run.counts)
            } else if run.entry(index).isRepeat {
                number = run.entry(index).number
            } else if outlet.isWaiting && isBehind {
                if isKept { isReplaying = true } else { end(Self.isTooSlow, &run.counts) }
            } else if let event = run.event(index, core.forms) {
                offer(event, run.entry(index).number, &run.counts)
            }
        }
    }

    override func overrun(_ count: Int, _ counts: inout TopicCounts) {
        if isKept {
            isReplaying = true
            if !isBehind { replay(&counts) }
        } else if outlet.drops {
            drop(count, &counts)
        } else {
            end(Self.isTooSlow, &counts)
        }
    }

    /// Gives the client what the history has behind the last message, as far as there is room.
    func replay() {
        var counts = TopicCounts()
        replay(&counts)
        core.tally.add(counts)
    }

    private func replay(_ counts: inout TopicCounts) {
        while isReplaying, pending == nil, !isBehind, let list {
            let (slot, number, delivery) = (list.slot, number, list.delivery)
            switch core.withTable({ $0.next(in: slot, behind: number, delivery) }) {
            case .entries(let entries):
                for entry in entries {
                    guard self.list != nil, !isBehind else { break }
                    self.number = entry.number
                    if let event = entry.event(core.forms) { offer(event, entry.number, &counts) }
                }
            case .live(let barrier):
                self.barrier = barrier
                isReplaying = false
            case .lost(let first): skip(to: first, &counts)
            }
        }
    }

    /// Some of what the client lacks isn't kept any more.
    private func skip(to first: UInt64, _ counts: inout TopicCounts) {
        // A stream that drops nothing has no gap: the client learns of it when it reconnects.
        guard outlet.drops else { return end(Self.isTooSlow, &counts) }
        if first > number + 1 { drop(Int(clamping: first - 1 - number), &counts) }
        number = first - 1
    }

    private func drop(_ count: Int, _ counts: inout TopicCounts) {
        outlet.onLoop(loop, count) { $0.drop($1) }
        counts.dropped += count
    }

    private func offer(_ event: TopicEntry.Event, _ number: UInt64, _ counts: inout TopicCounts) {
        do {
            let dropped = try outlet.onLoop(loop, event) { (outlet, event) throws in
                let before = outlet.dropped
                try outlet.offer(event.bytes, of: event.event)
                return outlet.dropped - before
            }
            // What isn't in the history has no place there.
            if number > 0 { self.number = number }
            // What waits is delivered, too: where it is dropped later, that is counted as well.
            counts.delivered += 1
            counts.dropped += dropped
        } catch {
            // It has ended, and its follower was notified.
            counts.ended += 1
        }
    }

    /// Tells the client of something before what is published.
    func tell(_ event: ServerSentEvent) {
        // What comes meanwhile is taken from the history behind it, or ends the stream.
        if outlet.isWaiting, isBehind { return untold.append(event) }
        try? outlet.onLoop(loop, event) { (outlet, event) throws in try outlet.offer(event.bytes, of: event) }
    }

    // MARK: The end

    private static let isTooSlow = TopicError(.slowSubscriber, "The client takes less than is published.")

    private func end(_ error: TopicError, _ counts: inout TopicCounts) {
        counts.ended += 1
        end(error)
    }

    private func end(_ error: TopicError?) {
        if let handlerEnds { return handlerEnds(error) }
        outlet.onLoop(loop) { outlet, _ in outlet.finish() }
    }

    func hasRoom() {
        while !isBehind, !untold.isEmpty { tell(untold.removeFirst()) }
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

/// The subscription of a handler's event stream, for as long as the handler waits.
final class EventSubscription: Sendable {
    private final class State {
        var subscriber: EventSubscriber?
        var continuation: CheckedContinuation<Void, any Error>?
        var isOver = false
    }

    private let core: TopicCore
    private let name: String
    private let replay: TopicReplay
    private let outlet: EventOutlet
    private let state: LoopBound<State>

    init(_ core: TopicCore, _ name: String, _ replay: TopicReplay, _ outlet: EventOutlet) {
        self.core = core
        self.name = name
        self.replay = replay
        self.outlet = outlet
        state = LoopBound(State(), on: outlet.loop.thread)
    }

    /// Begins, on the loop.
    func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let state = state.value
        guard !state.isOver else { return continuation.resume() }
        let subscriber = EventSubscriber(core, outlet) { error in self.end(error) }
        guard outlet.onLoop(outlet.loop, subscriber, { $0.attach($1) }) else {
            let error = TopicError(.closed, "The stream has ended, or has a subscription.")
            return continuation.resume(throwing: error)
        }
        do {
            let later = { [weak subscriber] (start: TopicTable.Start) -> Void in subscriber?.tellPlace(start) }
            let start = try subscriber.join(name, replay, on: outlet.loop, later: later)
            if !start.isPending { subscriber.tellPlace(start) }
        } catch {
            outlet.onLoop(outlet.loop) { outlet, _ in outlet.detach() }
            return continuation.resume(throwing: error)
        }
        (state.subscriber, state.continuation) = (subscriber, continuation)
        subscriber.replay()
    }

    /// Ends it, on the loop; twice is the same as once.
    func end(_ error: TopicError? = nil) {
        let state = state.value
        state.isOver = true
        guard let subscriber = state.subscriber.take() else { return }
        subscriber.leave()
        outlet.onLoop(outlet.loop) { outlet, _ in outlet.detach() }
        let continuation = state.continuation.take()
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
    }
}
