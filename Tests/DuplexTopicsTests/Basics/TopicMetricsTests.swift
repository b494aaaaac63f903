// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import MetricsTestKit
import Testing

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
