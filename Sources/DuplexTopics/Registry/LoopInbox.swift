// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What waits for one loop, in bounds.
struct LoopInbox: Sendable {
    let delivery: LoopDelivery
    /// How many subscriptions there are on the loop.
    var subscriptionCount = 0
    private var batch = TopicBatch()
    private var size = 0
    /// Whether the loop has been asked to deliver.
    private var isAsked = false

    init(_ delivery: LoopDelivery) {
        self.delivery = delivery
    }

    /// The number that the next item will have.
    var next: UInt64 { batch.first + UInt64(batch.items.count) }

    /// Puts a message behind the others; beyond the bound all that wait are lost, and counted.
    ///
    /// - Returns: whether the loop is to be asked to deliver.
    mutating func append(_ entry: TopicEntry, _ audience: UInt64, _ bound: Int) -> Bool {
        if entry.size > bound - size, !batch.items.isEmpty {
            for item in batch.items { batch.lost[item.audience, default: 0] += 1 }
            batch.first = next
            batch.items = []
            size = 0
        }
        batch.items.append(TopicBatch.Item(audience: audience, entry: entry))
        size += entry.size
        defer { isAsked = true }
        return !isAsked
    }

    /// Takes out all that waits.
    mutating func take() -> TopicBatch {
        let taken = batch
        batch = TopicBatch(first: next)
        size = 0
        isAsked = false
        return taken
    }
}
