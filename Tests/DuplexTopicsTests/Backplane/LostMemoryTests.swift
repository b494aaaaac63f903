// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A backplane that loses its memory", .timeLimit(minutes: 1))
struct LostMemoryTests {
    /// A node that is subscribed, and what others of its hub publish.
    private struct Node {
        let hub: MemoryHub
        let backplane: MemoryBackplane
        let topic: Topic
        let pair: WebSocketPair

        static func run(_ body: (Node) async throws -> Void) async throws {
            var options = TopicOptions()
            try options.keep("#")
            try await TestLoop.run { test in
                let hub = MemoryHub(clock: test.loop.clock)
                let backplane = MemoryBackplane(hub)
                let topics = Topics(options, clock: test.loop.clock, backplane: backplane)
                let pair = await WebSocketPair(on: test.group, capacity: .kibibytes(4))
                try await body(Node(hub: hub, backplane: backplane, topic: topics["a"], pair: pair))
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
        try await Node.run { node async throws in
            try await node.pair.server.subscribe(to: node.topic, slow: .wait)
            var messages = node.topic.messages().makeAsyncIterator()
            node.publish(1...3)
            node.forget { node.publish(2...3) }
            node.publish(4...4)
            node.forget()
            node.publish(4...5)
            node.publish(1...1, by: "third")
            let expected = ["other 1", "other 2", "other 3", "other 4", "other 5", "third 1"]
            for text in expected {
                #expect(try await node.pair.client.receive().description == text)
                let taken = try await messages.next()
                #expect(taken?.text == text && taken?.missed == 0)
            }
        }
    }

    @Test("Who was there is told that something may be lost, once, with the next message that is new")
    func gap() async throws {
        try await Node.run { node async throws in
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
        try await Node.run { node async throws in
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
