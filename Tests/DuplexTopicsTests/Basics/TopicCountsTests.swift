// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

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
