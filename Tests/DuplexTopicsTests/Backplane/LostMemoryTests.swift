// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexTopics

@Suite("A backplane that loses its memory", .timeLimit(minutes: 1))
struct LostMemoryTests {
    /// A node that is subscribed, and what others of its hub publish.
    fileprivate struct Node {
        let hub: MemoryHub
        let backplane: MemoryBackplane
        let topic: Topic

        static func run(_ body: (Node, WebSocketPair) async throws -> Void) async throws {
            var options = TopicOptions()
            try options.keep("#")
            try await TestLoop.run { test in
                let hub = MemoryHub(clock: test.loop.clock)
                let backplane = MemoryBackplane(hub)
                let topics = Topics(options: options, clock: test.loop.clock, backplane: backplane)
                let pair = await WebSocketPair(on: test.group, capacity: .kibibytes(4))
                try await body(Node(hub: hub, backplane: backplane, topic: topics["a"]), pair)
                await topics.close()
            }
        }

        func publish(_ numbers: ClosedRange<UInt64>, by origin: String = "other") {
            for number in numbers {
                let message = BackplaneMessage(
                    topic: "a",
                    message: .text("\(origin) \(number)"),
                    origin: origin,
                    number: number
                )
                _ = hub.publish(message, keeping: .init())
            }
        }

        /// All that is kept is lost, while the node is cut off.
        func forget(_ meanwhile: () -> Void = {}) {
            backplane.setAway(true)
            hub.forget()
            meanwhile()
            backplane.setAway(false)
        }
    }

    @Test("What is published again, since its answer was lost, comes to nobody twice, and what follows it comes")
    func repeats() async throws {
        try await Node.run { node, pair async throws in
            let subscription = try await pair.server.subscribe(to: node.topic, slow: .wait)
            #expect(await subscription.isComplete)
            var messages = node.topic.messages().makeAsyncIterator()
            node.publish(1...3)
            node.forget { node.publish(2...3) }
            node.publish(4...4)
            node.forget()
            node.publish(4...5)
            node.publish(1...1, by: "third")
            let expected = ["other 1", "other 2", "other 3", "other 4", "other 5", "third 1"]
            for text in expected {
                #expect(try await pair.client.receive().description == text)
                let taken = try await messages.next()
                #expect(taken?.text == text && taken?.missed == 0)
            }
        }
    }

    @Test("What came while a history was asked for isn't lost, though the backplane loses it before it answers")
    func early() async throws {
        try await HeldHistories.run { held, node async throws in
            var messages = node.topic.messages().makeAsyncIterator()
            node.publish(1...3)
            node.forget()
            node.publish(4...5)
            node.forget { node.publish(5...6) }
            held.answer()
            for number in 1...6 {
                let taken = try await messages.next()
                #expect(taken?.text == "other \(number)" && taken?.isAfterGap == (number == 4 || number == 6))
            }
        }
    }

    @Test("A subscription that is confirmed once more, with a history on its way, loses no message")
    func confirmedAgain() async throws {
        try await HeldHistories.run { held, node async throws in
            var messages = node.topic.messages().makeAsyncIterator()
            node.publish(1...3)
            node.hub.forget()
            held.confirm("a")
            node.publish(4...5)
            held.answer()
            for number in 1...5 {
                let taken = try await messages.next()
                #expect(taken?.text == "other \(number)")
            }
        }
    }

    @Test("Who was there is told that something may be lost, once, with the next message that is new")
    func gap() async throws {
        try await Node.run { node, _ async throws in
            var messages = node.topic.messages().makeAsyncIterator()
            node.publish(1...2)
            #expect(try await messages.next()?.isAfterGap == false)
            #expect(try await messages.next()?.isAfterGap == false)
            node.forget { node.publish(2...2) }
            node.publish(4...5)
            let first = try await messages.next()
            #expect(first?.text == "other 4" && first?.isAfterGap == true && first?.missed == 0)
            #expect(try await messages.next()?.isAfterGap == false)
        }
    }

    @Test("Other positions alone are no gap: a history that is too old is forgotten")
    func expired() async throws {
        try await Node.run { node, _ async throws in
            var messages = node.topic.messages().makeAsyncIterator()
            node.publish(1...1)
            #expect(try await messages.next()?.isAfterGap == false)
            node.hub.forget()
            node.publish(2...3)
            for number in 2...3 {
                let next = try await messages.next()
                #expect(next?.text == "other \(number)" && next?.isAfterGap == false)
            }
        }
    }
}

/// A backplane whose histories come when the test wants.
private final class HeldHistories: Backplane {
    let inner: MemoryBackplane
    /// Whether histories come, and who waits for that.
    private let gate = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    private let listener = Mutex<(any BackplaneListener)?>(nil)

    init(_ inner: MemoryBackplane) { self.inner = inner }

    static func run(_ body: (HeldHistories, LostMemoryTests.Node) async throws -> Void) async throws {
        var options = TopicOptions()
        try options.keep("#")
        try await TestLoop.run { test in
            let hub = MemoryHub(clock: test.loop.clock)
            let held = HeldHistories(MemoryBackplane(hub))
            let topics = Topics(options: options, clock: test.loop.clock, backplane: held)
            try await body(held, LostMemoryTests.Node(hub: hub, backplane: held.inner, topic: topics["a"]))
            await topics.close()
        }
    }

    /// Confirms the subscription to a topic again.
    func confirm(_ topic: String) {
        listener.withLock { $0 }?.subscribed(topic)
    }

    /// Has this history and all later ones come.
    func answer() {
        let waiting = gate.withLock { gate in
            gate.isOpen = true
            defer { gate.waiting = [] }
            return gate.waiting
        }
        for one in waiting { one.resume() }
    }

    func history(of topic: String, behind number: UInt64) async throws(TopicError) -> BackplaneHistory {
        await withCheckedContinuation { (one: CheckedContinuation<Void, Never>) in
            let isOpen = gate.withLock { gate in
                if !gate.isOpen { gate.waiting.append(one) }
                return gate.isOpen
            }
            if isOpen { one.resume() }
        }
        return try await inner.history(of: topic, behind: number)
    }

    func publish(
        _ message: BackplaneMessage,
        keeping history: TopicOptions.History?,
        _ completion: @escaping @Sendable (Result<TopicPosition?, TopicError>) -> Void
    ) {
        inner.publish(message, keeping: history, completion)
    }

    func start(_ listener: any BackplaneListener) {
        self.listener.withLock { $0 = listener }
        inner.start(listener)
    }
    func close() async { await inner.close() }
    func subscribe(to name: String) { inner.subscribe(to: name) }
    func unsubscribe(from name: String) { inner.unsubscribe(from: name) }
    func enter(_ member: PresenceMember, in topic: String) { inner.enter(member, in: topic) }
    func leave(_ id: String, in topic: String) { inner.leave(id, in: topic) }
    func watchPresence(in topic: String, _ isWatched: Bool) { inner.watchPresence(in: topic, isWatched) }
    func members(of topic: String, limit: Int) async throws(TopicError) -> [PresenceMember] {
        try await inner.members(of: topic, limit: limit)
    }
    func memberCount(of topic: String) async throws(TopicError) -> Int { try await inner.memberCount(of: topic) }
}
