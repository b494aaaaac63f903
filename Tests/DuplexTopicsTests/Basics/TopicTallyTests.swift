// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import MetricsTestKit
import Testing

@testable import DuplexTopics

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
