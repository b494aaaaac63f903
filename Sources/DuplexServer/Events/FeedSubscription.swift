// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// One client's stream of the events of a feed; belongs to its loop's thread.
///
/// It knows how far the client is. As long as the client is behind the feed it takes events from there, as many as there is
/// room for; then it is given each new one.
final class FeedSubscription: EventSource {
    private let feed: EventFeed
    private let outlet: EventOutlet
    /// Where its loop's part of the feed has it.
    var place = 0
    /// The number of the last event that went to the client, or waits for it in the outlet.
    private var number: UInt64 = 0
    /// Whether events are taken from the feed.
    private var isReplaying = true
    private var isFinishing = false

    private var loop: EventLoop { outlet.loop }

    init(_ feed: EventFeed, _ outlet: EventOutlet) {
        self.feed = feed
        self.outlet = outlet
    }

    /// Begins the stream.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - replay: how many of the last events a new client gets.
    ///   - retry: how long clients are to wait before they come back.
    ///   - missed: makes the event for a client that has missed some.
    func begin(
        _ request: Request,
        replay: Int,
        retry: Duration?,
        _ missed: (@Sendable (Request) -> ServerSentEvent?)?
    ) {
        let start = feed.join(self, on: loop, behind: request.lastEventID, replay: replay)
        number = start.number
        // Without data nobody sees it, but a client that is cut off before the next event knows where it was.
        let first = start.id == nil && retry == nil ? nil : try? ServerSentEvent(nil, id: start.id, retry: retry)
        outlet.onLoop(loop, (self, first)) { $0.open($1.0, $1.1) }
        if start.isLost, let event = missed?(request) { _ = offer(event.bytes, of: event) }
        replayEvents()
        // It may have come to its end before this stream joined.
        if feed.isFinished { finish() }
    }

    // MARK: Events

    /// Gives the client new events.
    func deliver(_ events: [FeedEvent]) {
        for event in events where !isReplaying && event.number > number {
            if outlet.isWaiting && isBehind {
                isReplaying = true
            } else if offer(event.bytes, of: event.event) {
                number = event.number
            } else {
                return
            }
        }
    }

    /// The loop had more events waiting than it holds: the feed may still have them.
    func overrun() {
        isReplaying = true
        if !isBehind { replayEvents() }
    }

    /// Gives the client what the feed has behind the last event, as far as there is room.
    private func replayEvents() {
        while isReplaying, !isBehind {
            guard let events = feed.events(behind: number, limit: 64) else {
                // A stream has no gap: the client gets that event when it reconnects.
                return end()
            }
            if events.isEmpty {
                isReplaying = false
                if isFinishing { end() }
            }
            for event in events where !isBehind {
                guard offer(event.bytes, of: event.event) else { return }
                number = event.number
            }
        }
    }

    private var isBehind: Bool { outlet.onLoop(loop) { outlet, _ in outlet.isBehind } }

    /// - Returns: whether the stream goes on.
    private func offer(_ bytes: [UInt8], of event: ServerSentEvent) -> Bool {
        do {
            try outlet.onLoop(loop, (bytes, event)) { (outlet, event) throws in
                try outlet.offer(event.0, of: event.1)
            }
            return true
        } catch {
            // It has ended, and its follower was notified.
            return false
        }
    }

    // MARK: The end

    /// The feed has finished: the stream ends behind its last event.
    func finish() {
        isFinishing = true
        if !isReplaying { end() }
    }

    private func end() {
        outlet.onLoop(loop) { outlet, _ in outlet.finish() }
    }

    func hasRoom() {
        replayEvents()
    }

    func isToEnd() {
        end()
    }

    func ended() {
        isReplaying = false
        feed.leave(self, on: loop)
    }
}
