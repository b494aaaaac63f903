// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexTopics

@Suite("One loop's part of the topics")
struct LoopDeliveryTests {
    private final class Recorder: TopicMember {
        var texts: [String] = []
        var lost = 0
        override func deliver(_ run: inout TopicRun) {
            texts += run.range.map { run.entry($0).message.description + (run.gathers ? "+" : "") }
            run.counts.delivered += run.range.count
            // Whoever leaves while others are given the same isn't in their way.
            list?.delivery.remove(self)
        }
        override func overrun(_ count: Int, _ counts: inout TopicCounts) {
            lost += count
            counts.dropped += count
        }
    }

    @Test("Each gets what is for it, also while others leave")
    func delivers() async throws {
        try await TestLoop.run { test in
            let delivery = LoopDelivery(test.loop, 0)
            let results = await test.loop.make { _ in
                let members = (0..<4).map { _ in Recorder() }
                for (index, member) in members.enumerated() { delivery.add(member, index < 3 ? 1 : 2, 0) }
                var batch = TopicBatch()
                for (audience, text) in [(1, "a"), (1, "b"), (3, "c"), (2, "d")] as [(UInt64, String)] {
                    batch.items.append(.init(audience: audience, entry: TopicEntry("t", nil, .message(.text(text)))))
                }
                (batch.first, batch.lost) = (9, [2: .init(count: 7)])
                members[2].barrier = 9
                let counts = [delivery.deliver(batch), delivery.deliver(batch)]
                return members.map { $0.texts.joined() + "\($0.lost)" } + counts.map { "\($0.delivered) \($0.dropped)" }
            }
            #expect(results == ["a+b+0", "a+b+0", "a+b+0", "d+7", "7 7", "0 0"])
        }
    }
}
