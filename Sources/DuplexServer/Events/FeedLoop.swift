// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// An event of a feed: encoded once, and the same for all clients.
final class FeedEvent: Sendable {
    let number: UInt64
    let event: ServerSentEvent
    let bytes: [UInt8]

    init(_ number: UInt64, _ event: ServerSentEvent) {
        self.number = number
        self.event = event
        bytes = event.bytes
    }

    /// About how much memory it takes.
    var size: Int { 128 + bytes.count + (event.data?.utf8.count ?? 0) }
}

/// One loop's part of a feed: its streams, and the events that they haven't been given yet.
final class FeedLoop: Sendable {
    let loop: EventLoop
    private let subscriptions: LoopBound<Subscriptions>
    private let inbox = Mutex(Inbox())

    private final class Subscriptions {
        var all: [ObjectIdentifier: FeedSubscription] = [:]
    }

    private struct Inbox {
        var events: [FeedEvent] = []
        var size = 0
        /// Whether the loop has been asked to deliver them.
        var isAsked = false
        /// Whether there were more than it holds: streams look for them in the feed then.
        var isOverrun = false
        var count = 0
    }

    /// How much waits for a loop that is busy.
    private static let bound = 16 * 1_024 * 1_024

    init(_ loop: EventLoop) {
        self.loop = loop
        subscriptions = LoopBound(Subscriptions(), on: loop.thread)
    }

    /// How many streams there are.
    var count: Int { inbox.withLock { $0.count } }

    /// Takes an event in, on any thread.
    ///
    /// - Returns: whether the loop is to be asked to ``deliver()``.
    func add(_ event: FeedEvent) -> Bool {
        inbox.withLock { inbox in
            if inbox.isOverrun || event.size > Self.bound - inbox.size {
                inbox.isOverrun = true
                inbox.events = []
            } else {
                inbox.events.append(event)
                inbox.size += event.size
            }
            defer { inbox.isAsked = true }
            return !inbox.isAsked
        }
    }

    // MARK: On the loop

    func add(_ subscription: FeedSubscription) {
        subscriptions.value.all[ObjectIdentifier(subscription)] = subscription
        noteCount()
    }

    func remove(_ subscription: FeedSubscription) {
        subscriptions.value.all[ObjectIdentifier(subscription)] = nil
        noteCount()
    }

    private func noteCount() {
        let count = subscriptions.value.all.count
        inbox.withLock { $0.count = count }
    }

    func deliver() {
        let taken = inbox.withLock { inbox in
            let taken = inbox
            inbox = Inbox(count: taken.count)
            return taken
        }
        for subscription in subscriptions.value.all.values {
            if taken.isOverrun { subscription.overrun() } else { subscription.deliver(taken.events) }
        }
    }

    /// The feed has finished.
    func finish() {
        deliver()
        for subscription in subscriptions.value.all.values { subscription.finish() }
    }
}
