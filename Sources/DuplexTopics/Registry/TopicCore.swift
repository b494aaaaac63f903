// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// What all topics of one ``Topics`` share.
final class TopicCore: Sendable {
    let options: TopicOptions
    let clock: LoopClock
    private let table: Mutex<TopicTable>

    init(_ options: TopicOptions, clock: LoopClock) {
        self.options = options
        self.clock = clock
        var random = SystemRandomNumberGenerator()
        let epoch = String(UInt64.random(in: 1...UInt64.max, using: &random), radix: 36)
        table = Mutex(TopicTable(options, epoch: epoch))
    }

    /// Runs `body` with the table; for as short as it can be.
    func withTable<Result: Sendable, Failure: Error>(
        _ body: (inout TopicTable) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try table.withLock { table throws(Failure) in try body(&table) }
    }

    /// Publishes a message to whoever is subscribed.
    func publish(_ name: String, _ payload: TopicEntry.Payload) throws(TopicError) -> TopicTable.Published {
        let now = clock.now()
        let published = try withTable { table throws(TopicError) in try table.publish(name, payload, at: now) }
        for delivery in published.asked {
            delivery.loop.execute { _ in delivery.deliver(self.withTable { $0.takeBatch(of: delivery) }) }
        }
        for listener in published.listeners { listener.take() }
        return published
    }
}
