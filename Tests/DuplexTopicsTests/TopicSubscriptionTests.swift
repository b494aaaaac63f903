// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import Testing

@Suite("A subscription of a connection", .timeLimit(minutes: 1))
struct TopicSubscriptionTests {
    @Test("It names its topic, and ends when it is told to")
    func ends() async throws {
        try await TopicFixture.run { fixture in
            let pair = await fixture.pair()
            let subscription = try await pair.server.subscribe(to: fixture.topics["a/+"])
            #expect(subscription.topic == "a/+")
            #expect(await subscription.isComplete)
            #expect(await subscription.dropped == 0)
            subscription.cancel()
            await fixture.test.settle()
            #expect(fixture.topics.count == 0)
            #expect(await subscription.dropped == 0)
        }
    }

    @Test("What a topic without a history is asked for of the past isn't there")
    func incomplete() async throws {
        try await TopicFixture.run { fixture async throws in
            let pair = await fixture.pair()
            let position = TopicPosition(epoch: "e", offset: 1)
            let topic = fixture.topics["a"]
            #expect(try await !pair.server.subscribe(to: topic, replay: .after(position)).isComplete)
            #expect(try await pair.server.subscribe(to: topic, replay: .last(3)).isComplete)
        }
    }
}
