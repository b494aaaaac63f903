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
final class FeedLoop: TurnTarget, Sendable {
    let loop: EventLoop
    private let subscriptions: LoopBound<Subscriptions>
    private let inbox = Mutex(Inbox())

    private final class Subscriptions {
        /// In the order in which they came, nearly: what belongs to one then lies near what belongs to the next, and is there
        /// when it is needed.
        private(set) var all: [FeedSubscription] = []
        /// What is on its way to them, if the turn had no time for all of it.
        var pass: Pass?
        /// Whether more has come to wait meanwhile.
        var isAskedAgain = false
        /// Whether they end behind what waits.
        var isFinishing = false

        func add(_ subscription: FeedSubscription) {
            subscription.place = all.count
            all.append(subscription)
        }

        /// Puts the last one into the place of one that goes.
        func remove(_ subscription: FeedSubscription) {
            let place = subscription.place
            guard place < all.count, all[place] === subscription else { return }
            let last = all.removeLast()
            guard last !== subscription else { return }
            all[place] = last
            last.place = place
        }
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
    /// How many streams are given events before these are sent: what was written for all of them would be memory for each,
    /// and out of the processor's cache by the end of the turn.
    fileprivate static let batch = 64

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
        subscriptions.value.add(subscription)
        noteCount()
    }

    func remove(_ subscription: FeedSubscription) {
        subscriptions.value.remove(subscription)
        noteCount()
    }

    private func noteCount() {
        let count = subscriptions.value.all.count
        inbox.withLock { $0.count = count }
    }

    /// Gives all streams what waits for them: in several turns where they are many.
    ///
    /// Asked again before it has come to its end, it takes what waits by then behind it.
    func deliver() {
        let subscriptions = subscriptions.value
        guard subscriptions.pass == nil else {
            subscriptions.isAskedAgain = true
            return
        }
        let taken = inbox.withLock { inbox in
            let taken = inbox
            inbox = Inbox(count: taken.count)
            return taken
        }
        goOn(Pass(taken.isOverrun ? .overrun : .events(taken.events), to: subscriptions.all), subscriptions)
    }

    /// The feed has finished.
    func finish() {
        subscriptions.value.isFinishing = true
        deliver()
    }

    func turn() {
        let subscriptions = subscriptions.value
        if let pass = subscriptions.pass.take() { goOn(pass, subscriptions) }
    }

    private func goOn(_ pass: consuming Pass, _ subscriptions: Subscriptions) {
        guard pass.goOn(on: loop.core) else {
            subscriptions.pass = pass
            return loop.core.callNextTurn(self)
        }
        if subscriptions.isAskedAgain {
            subscriptions.isAskedAgain = false
            // In its own turn: this one has had its share.
            loop.execute { _ in self.deliver() }
        } else if subscriptions.isFinishing {
            subscriptions.isFinishing = false
            goOn(Pass(.end, to: subscriptions.all), subscriptions)
        }
    }

    /// What all streams are given, as far as it has come.
    private struct Pass {
        enum Content {
            case events([FeedEvent])
            /// There was more than the loop holds.
            case overrun
            /// There is nothing more.
            case end
        }

        let content: Content
        /// Those that were there when it began.
        let all: [FeedSubscription]
        private var position = 0

        init(_ content: Content, to all: [FeedSubscription]) {
            self.content = content
            self.all = all
        }

        /// Goes on for a share of the turn.
        ///
        /// - Returns: whether it has come to its end.
        mutating func goOn(on core: LoopCore) -> Bool {
            var share = TurnShare()
            while position < all.count {
                give(to: all[position])
                position += 1
                if position.isMultiple(of: FeedLoop.batch) { core.sendGathered() }
                if share.isOver(core) { return false }
            }
            return true
        }

        private func give(to subscription: FeedSubscription) {
            switch content {
            case .events(let events): subscription.deliver(events)
            case .overrun: subscription.overrun()
            case .end: subscription.finish()
            }
        }
    }
}
