// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire
import Synchronization

/// Publishes events to any number of clients, and keeps the last ones for those that reconnect; see
/// `RouteBuilder.events(_:of:)`.
///
/// ```swift
/// let feed = EventFeed(keeping: 1_000)
/// server.events("/feed", of: feed)
/// try feed.publish("42", event: "price")
/// ```
///
/// Each event is encoded once, however many clients get it. A feed lasts as long as the app wants, over several routes and
/// servers. It may be used from any thread.
public final class EventFeed: Sendable {
    private struct State {
        var history: EventHistory<FeedEvent>
        var loops: [ObjectIdentifier: FeedLoop] = [:]
        var isFinished = false
    }

    private let state: Mutex<State>

    /// Makes a feed.
    ///
    /// - Parameters:
    ///   - count: how many events are kept. Default: 1,000.
    ///   - size: how many bytes of memory they may take. Default: 4 MiB.
    public init(keeping count: Int = 1_000, size: ByteCount = .mebibytes(4)) {
        let epoch = String(RandomText.hexadecimal().prefix(12))
        state = Mutex(State(history: EventHistory(epoch: epoch, keeping: count, size: size)))
    }

    // MARK: Publishing

    /// Publishes an event; see ``publish(_:)``.
    ///
    /// - Parameters:
    ///   - data: the text; any, of any number of lines.
    ///   - event: the type that a page listens for. Default: `message`.
    ///   - id: unique among those of the feed. Default: one is made.
    /// - Returns: the id.
    /// - Throws: `EventStreamError` with `invalidField` when the type or the id has a line end or U+0000, with `finished`
    ///   behind ``finish()``.
    @discardableResult
    public func publish(
        _ data: String,
        event: String? = nil,
        id: String? = nil
    ) throws(EventStreamError) -> String {
        try publish(ServerSentEvent(data, event: event, id: id))
    }

    /// Publishes an event: keeps it, and has it sent to all clients.
    ///
    /// It waits for nobody. An event without an id is given one that no other event has, not even one of another process.
    /// Hazard: where ids are the app's own, an id that comes twice has clients go on after the second.
    ///
    /// - Parameter event: the event.
    /// - Returns: its id.
    /// - Throws: `EventStreamError` with `finished` behind ``finish()``.
    @discardableResult
    public func publish(_ event: ServerSentEvent) throws(EventStreamError) -> String {
        let (id, loops) = try state.withLock { state throws(EventStreamError) in
            guard !state.isFinished else {
                throw EventStreamError(.finished, "The feed has finished.")
            }
            let number = state.history.lastNumber + 1
            let own = event.id.flatMap { $0.isEmpty ? nil : $0 }
            let id = own ?? state.history.id(of: number)
            let entry = FeedEvent(number, own == nil ? try event.with(id: id) : event)
            state.history.append(entry, id: own, size: entry.size)
            // In here, so that all loops get events in the same order.
            return (id, state.loops.values.filter { $0.add(entry) })
        }
        for part in loops { part.loop.execute { _ in part.deliver() } }
        return id
    }

    /// Ends all streams once they have sent all published events, and answers clients that reconnect with the end
    /// (204).
    public func finish() {
        let loops = state.withLock { state in
            state.isFinished = true
            return Array(state.loops.values)
        }
        for part in loops { part.loop.execute { _ in part.finish() } }
    }

    /// Whether it has finished.
    package var isFinished: Bool { state.withLock { $0.isFinished } }

    /// How many clients get the events.
    package var streamCount: Int { state.withLock { $0.loops.values.reduce(0) { $0 + $1.count } } }

    /// The id of the last event, which a client sends that has seen everything.
    package var lastID: String { state.withLock { $0.history.lastID } }

    // MARK: Streams

    /// Where a stream begins.
    struct Start {
        /// The number of the event that the client has seen last.
        var number: UInt64
        /// The event about that, if the client doesn't know.
        var id: String?
        /// Whether it lacks events that aren't kept any more.
        var isLost = false
    }

    /// Lets a stream in, on its loop.
    func join(_ subscription: FeedSubscription, on loop: EventLoop, behind lastEventID: String?, replay: Int) -> Start {
        let (part, start) = state.withLock { state in
            let id = ObjectIdentifier(loop)
            let part = state.loops[id] ?? FeedLoop(loop)
            state.loops[id] = part
            return (part, Self.start(behind: lastEventID, replay: replay, in: state.history))
        }
        part.add(subscription)
        return start
    }

    private static func start(
        behind lastEventID: String?,
        replay: Int,
        in history: EventHistory<FeedEvent>
    ) -> Start {
        guard let lastEventID else {
            let number = history.place(beforeLast: replay)
            return Start(number: number, id: number == history.lastNumber ? history.lastID : history.id(of: number))
        }
        switch history.place(behind: lastEventID) {
        case .behind(let number): return Start(number: number)
        case .lost:
            let number = history.firstNumber - 1
            return Start(number: number, id: history.id(of: number), isLost: true)
        }
    }

    /// Lets a stream go, on its loop.
    func leave(_ subscription: FeedSubscription, on loop: EventLoop) {
        let id = ObjectIdentifier(loop)
        guard let part = state.withLock({ $0.loops[id] }) else { return }
        part.remove(subscription)
        // No subscriber joins meanwhile: that happens on this loop.
        if part.count == 0 { state.withLock { $0.loops[id] = nil } }
    }

    /// What follows behind an event.
    ///
    /// - Returns: some events, none when there are no more; `nil` when some of those that follow aren't kept any more.
    func events(behind number: UInt64, limit: Int) -> [FeedEvent]? {
        state.withLock { $0.history.elements(behind: number, limit: limit) }
    }
}
