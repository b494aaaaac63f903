// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Several subscriptions of one connection", .timeLimit(minutes: 10))
struct SocketSubscriberFollowingTests {
    @Test("Those that are behind have their turns, whichever came last")
    func fair() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 1_000))
        } _: { fixture in
            let pair = await fixture.pair()
            let names = ["a", "b", "c"]
            for name in names { try await pair.server.subscribe(to: fixture.topics[name], slow: .wait) }
            for number in 0..<400 {
                for name in names { fixture.topics[name].publish("\(name) " + TopicFixture.long(number)) }
            }
            await fixture.test.settle()
            var counts: [String: Int] = [:]
            var ahead = 0
            for _ in 0..<1_200 {
                let parts = try await pair.client.receive().description.split(separator: " ")
                try #require(parts.count == 3)
                let name = String(parts[0])
                #expect(Int(parts[1]) == counts[name, default: 0])
                counts[name, default: 0] += 1
                ahead = max(ahead, (counts.values.max() ?? 0) - (names.map { counts[$0] ?? 0 }.min() ?? 0))
            }
            #expect(counts == ["a": 400, "b": 400, "c": 400])
            #expect(ahead < 100, "None had to wait for all of another.")
        }
    }

    @Test("What waits for all of them together is bounded")
    func bounded() async throws {
        try await TopicFixture.run {
            $0.backlogOfConnection = .kibibytes(10)
        } _: { fixture in
            let pair = await fixture.pair()
            var subscriptions: [TopicSubscription] = []
            for name in 0..<50 {
                let slow = SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 5, size: .kibibytes(10))
                subscriptions.append(try await pair.server.subscribe(to: fixture.topics["\(name)"], slow: slow))
            }
            for number in 0..<20 {
                for name in 0..<50 { fixture.topics["\(name)"].publish(TopicFixture.long(number)) }
                await fixture.test.settle()
            }
            var dropped = 0
            for subscription in subscriptions { dropped += await subscription.dropped }
            // What was in buffers, and less than ten that waited.
            #expect(dropped > 500 && dropped == fixture.topics.counts.dropped)
            for _ in 0..<(1_000 - dropped) {
                #expect(TopicFixture.numbers([try await pair.client.receive().description]) != [-1])
            }
            fixture.topics["0"].publish("end")
            #expect(try await pair.client.receive() == "end")
        }
    }

    @Test(
        "A client that takes nothing of the past that it asked for is ended by its patience; one that takes some isn't"
    )
    func patience() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 1_000))
        } _: { fixture in
            let topic = fixture.topics["a"]
            for number in 0..<500 { topic.publish(TopicFixture.long(number)) }
            let (dead, slow) = (await fixture.pair(), await fixture.pair())
            for pair in [dead, slow] {
                try await pair.server.subscribe(to: topic, slow: .end(patience: .seconds(5)), replay: .last(1_000))
            }
            await fixture.test.advance(by: .seconds(4))
            #expect(topic.subscriptionCount == 2)
            var numbers: [Int] = []
            func take() async throws {
                for _ in 0..<100 {
                    numbers += TopicFixture.numbers([try await slow.client.receive().description])
                }
                await fixture.test.settle()
            }
            try await take()
            await fixture.test.advance(by: .seconds(1))
            #expect(topic.subscriptionCount == 1)
            await fixture.test.advance(by: .seconds(3))
            #expect(topic.subscriptionCount == 1)
            for _ in 0..<4 { try await take() }
            await fixture.test.advance(by: .seconds(6))
            #expect(numbers == Array(0..<500) && topic.subscriptionCount == 1)
            #expect(fixture.topics.counts.ended == 1)
        }
    }
}
