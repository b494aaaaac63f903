// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTopics

@Suite("Who has subscribed to what")
struct RedisSubscriptionsTests {
    private static let channel = RedisChannel(.plain, "a")

    @Test("The server is asked once for any number of subscribers, and told when the last has gone")
    func countsSubscribers() {
        var subscriptions = RedisSubscriptions()
        let (first, ask) = subscriptions.add(Self.channel) { _ in }
        guard case .ask(let generation) = ask else {
            Issue.record("nobody is asked")
            return
        }
        let (second, wait) = subscriptions.add(Self.channel) { _ in }
        #expect(wait == .wait)
        #expect(subscriptions.answered(Self.channel, generation, isActive: true).count == 2)
        let (third, active) = subscriptions.add(Self.channel) { _ in }
        #expect(active == .active)
        #expect(subscriptions.handlers(of: Self.channel).count == 3)
        let wereLast = [second, second, first, third, third].map { subscriptions.remove($0) }
        #expect(wereLast == [false, false, false, true, false])
        #expect(subscriptions.count == 0)
    }

    @Test("The confirmation of a subscription that was given up isn't that of the next one")
    func tellsGenerationsApart() {
        var subscriptions = RedisSubscriptions()
        let (first, ask) = subscriptions.add(Self.channel) { _ in }
        let wasLast = subscriptions.remove(first)
        #expect(wasLast)
        let (_, again) = subscriptions.add(Self.channel) { _ in }
        guard case .ask(let former) = ask, case .ask(let present) = again else {
            Issue.record("nobody is asked")
            return
        }
        #expect(former != present)
        #expect(subscriptions.answered(Self.channel, former, isActive: true).isEmpty)
        #expect(subscriptions.answered(Self.channel, present, isActive: true).count == 1)
    }

    @Test("Only who was subscribed is interrupted, and once")
    func interrupts() {
        var subscriptions = RedisSubscriptions()
        let (_, ask) = subscriptions.add(Self.channel) { _ in }
        _ = subscriptions.add(RedisChannel(.sharded, "a")) { _ in }
        if case .ask(let generation) = ask { _ = subscriptions.answered(Self.channel, generation, isActive: true) }
        #expect(subscriptions.channels.count == 2)
        #expect(subscriptions.interrupted().count == 1)
        #expect(subscriptions.interrupted().isEmpty)
        #expect(subscriptions.dropped(Self.channel) == nil)
    }

    @Test("A channel that the server has dropped is asked for again in the same generation")
    func drops() {
        var subscriptions = RedisSubscriptions()
        guard case (_, .ask(let generation)) = subscriptions.add(Self.channel, { _ in }) else {
            Issue.record("nobody is asked")
            return
        }
        #expect(subscriptions.dropped(Self.channel) == nil)
        _ = subscriptions.answered(Self.channel, generation, isActive: true)
        let dropped = subscriptions.dropped(Self.channel)
        #expect(dropped?.generation == generation)
        #expect(dropped?.handlers.count == 1)
        #expect(subscriptions.isCurrent(Self.channel, generation))
    }
}
