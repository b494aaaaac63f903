// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import MetricsTestKit
import Testing

@testable import DuplexTopics

@Suite("What has become of messages")
struct TopicCountsTests {
    @Test("What was published, delivered and dropped, and who was ended, is counted")
    func counts() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            #expect(fixture.topics.counts == TopicCounts())
            let subscription = try await pair.server.subscribe(to: topic, slow: .dropOldest(keeping: 5))
            var iterator = topic.makeAsyncIterator()
            for number in 0..<500 {
                topic.publish(TopicFixture.long(number))
                _ = await iterator.next()
                await fixture.test.settle()
            }
            let texts = try await TopicFixture.texts(pair.client, upTo: TopicFixture.long(499))
            let dropped = await subscription.dropped
            #expect(dropped == 500 - texts.count && dropped > 0)
            #expect(
                fixture.topics.counts == TopicCounts(published: 500, delivered: 500 + texts.count, dropped: dropped)
            )
            // The inspector and its like see it at the connection.
            #expect(await pair.server.snapshot.droppedMessages == dropped)
            #expect(await pair.client.snapshot.droppedMessages == nil)
            let strict = await fixture.pair()
            try await strict.server.subscribe(to: fixture.topics["b"], slow: .end(after: .kibibytes(5)))
            for number in 0..<200 {
                fixture.topics["b"].publish(TopicFixture.long(number))
                await fixture.test.settle()
            }
            #expect(fixture.topics.counts.ended == 1)
            #expect(topic.publish("x") == .published(to: 2, nil))
            #expect(fixture.topics["a/#"].publish("x") != .published(to: 0, nil))
            #expect(fixture.topics.counts.published == 701)
        }
    }
}

@Suite("The count of messages")
struct TopicTallyTests {
    @Test("It adds up, and hands in what is new")
    func adds() throws {
        let factory = TestMetrics()
        let tally = TopicTally(TopicMetrics(factory))
        for _ in 0..<3 { tally.add(TopicCounts(published: 1, delivered: 2, dropped: 3, ended: 4)) }
        tally.add(TopicCounts())
        #expect(tally.total == TopicCounts(published: 3, delivered: 6, dropped: 9, ended: 12))
        #expect(try factory.expectCounter("topics_dropped").values == [3, 3, 3])
    }
}

@Suite("Where the numbers of topics go")
struct TopicMetricsTests {
    @Test("Counters count messages, and meters show how much there is")
    func numbers() async throws {
        let factory = TestMetrics()
        try await TopicFixture.run { options in
            options.metrics = TopicMetrics(factory, dimensions: [("app", "x")])
            try options.keep("a")
        } _: { fixture in
            let pair = await fixture.pair()
            try await pair.server.subscribe(to: fixture.topics["a"])
            try await pair.server.subscribe(to: fixture.topics["b"])
            for name in ["a", "b", "b", "c"] { fixture.topics[name].publish("1") }
            await fixture.test.settle()
            let app = ("app", "x")
            #expect(try factory.expectCounter("topics_published", [app]).totalValue == 4)
            #expect(try factory.expectCounter("topics_delivered", [app]).totalValue == 3)
            #expect(try factory.expectCounter("topics_dropped", [app]).totalValue == 0)
            #expect(try factory.expectCounter("topics_ended", [app]).totalValue == 0)
            #expect(try factory.expectMeter("topics_subscriptions", [app]).lastValue == 2)
            #expect(try factory.expectMeter("topics_current", [app]).lastValue == 2)
            #expect(try factory.expectMeter("topics_history_bytes", [app]).lastValue ?? 0 > 1)
            await pair.client.reset()
            await fixture.test.settle()
            #expect(try factory.expectMeter("topics_subscriptions", [app]).lastValue == 0)
            #expect(try factory.expectMeter("topics_current", [app]).lastValue == 1, "What is kept of a.")
        }
    }
}
