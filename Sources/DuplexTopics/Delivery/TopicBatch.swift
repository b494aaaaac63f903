// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What waited for one loop, in the order in which it was published.
struct TopicBatch {
    /// A message, and the topic or pattern whose subscribers get it.
    struct Item {
        var audience: UInt64
        var entry: TopicEntry
    }

    /// The number of the first item among all that ever waited for this loop.
    var first: UInt64 = 0
    var items: [Item] = []
    /// How many were lost for each audience, because the loop was busy for too long.
    var lost: [UInt64: Int] = [:]

    /// The items from `start` on that have the same audience.
    func run(from start: Int) -> Range<Int> {
        let audience = items[start].audience
        var end = start + 1
        while end < items.count, items[end].audience == audience { end += 1 }
        return start..<end
    }
}
