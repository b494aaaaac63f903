// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What waits for one loop, in bounds.
struct LoopInbox: Sendable {
    let delivery: LoopDelivery
    /// How many subscriptions there are on the loop.
    var subscriptionCount = 0
    private var batch = TopicBatch()
    private var size = 0
    /// Where subscriptions began while something waited, by their topics.
    private var barriers: [UInt64: [UInt64]] = [:]
    /// Whether the loop has been asked to deliver.
    private var isAsked = false

    init(_ delivery: LoopDelivery) {
        self.delivery = delivery
    }

    /// The number that the next item will have.
    var next: UInt64 { batch.first + UInt64(batch.items.count) }

    /// A subscription begins here: what waits, and what was lost already, isn't for it.
    mutating func begin(_ audience: UInt64) {
        guard !batch.items.isEmpty, barriers[audience]?.last != next else { return }
        barriers[audience, default: []].append(next)
        let (number, count) = (next, batch.lost[audience]?.count ?? 0)
        if count > 0 { batch.lost[audience]?.early[number] = count }
    }

    /// Puts a message behind the others; beyond the bound all that wait are lost, and counted.
    ///
    /// - Returns: whether the loop is to be asked to deliver.
    mutating func append(_ entry: TopicEntry, _ audience: UInt64, _ bound: Int) -> Bool {
        if entry.size > bound - size, !batch.items.isEmpty {
            lose()
            batch.first = next
            batch.items = []
            size = 0
        }
        batch.items.append(TopicBatch.Item(audience: audience, entry: entry))
        size += entry.size
        defer { isAsked = true }
        return !isAsked
    }

    /// Counts all that wait as lost.
    private mutating func lose() {
        for (index, item) in batch.items.enumerated() {
            let number = batch.first + UInt64(index)
            batch.lost[item.audience, default: TopicBatch.Loss()].count += 1
            for barrier in barriers[item.audience] ?? [] where barrier > number {
                batch.lost[item.audience]?.early[barrier, default: 0] += 1
            }
        }
    }

    /// Takes out all that waits.
    mutating func take() -> TopicBatch {
        let taken = batch
        batch = TopicBatch(first: next)
        size = 0
        barriers = [:]
        isAsked = false
        return taken
    }
}
