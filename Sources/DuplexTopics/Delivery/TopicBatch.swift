// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What waited for one loop, in the order in which it was published.
struct TopicBatch {
    /// A message, and the topic or pattern whose subscribers get it.
    struct Item {
        var audience: UInt64
        var entry: TopicEntry
    }

    /// What was lost for one audience.
    struct Loss {
        var count = 0
        /// How many of them came before a subscription, by its barrier.
        var early: [UInt64: Int] = [:]

        /// How many a subscription with that barrier lacks.
        func count(behind barrier: UInt64) -> Int { count - (early[barrier] ?? 0) }
    }

    /// The number of the first item among all that ever waited for this loop.
    var first: UInt64 = 0
    var items: [Item] = []
    /// What was lost for each audience, because the loop was busy for too long.
    var lost: [UInt64: Loss] = [:]

    /// The items from `start` on that have the same audience.
    func run(from start: Int) -> Range<Int> {
        let audience = items[start].audience
        var end = start + 1
        while end < items.count, items[end].audience == audience { end += 1 }
        return start..<end
    }
}
