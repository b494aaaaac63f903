// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What waited for a loop")
struct TopicBatchTests {
    @Test("It falls into runs of one topic each")
    func runs() {
        var batch = TopicBatch()
        let entry = TopicEntry("a", nil, .message("1"))
        for audience in [1, 1, 2, 1, 3, 3, 3] as [UInt64] {
            batch.items.append(.init(audience: audience, entry: entry))
        }
        var runs: [Range<Int>] = []
        while (runs.last?.upperBound ?? 0) < batch.items.count {
            runs.append(batch.run(from: runs.last?.upperBound ?? 0))
        }
        #expect(runs == [0..<2, 2..<3, 3..<4, 4..<7])
    }
}
