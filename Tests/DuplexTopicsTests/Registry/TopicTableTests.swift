// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("The table of topics")
struct TopicTableTests {
    private static let now = Instant(nanoseconds: 1)
    private static let hello = TopicEntry.Payload.message("hello")

    /// Publishes, and sees how many subscriptions that goes to.
    private static func expect(_ count: Int, _ name: String, _ table: inout TopicTable) throws {
        let published = try table.publish(name, hello, at: now)
        #expect(published.count == count, "\(name)")
    }

    @Test("Places of topics that have gone are used again, and never mixed up")
    func reuses() async throws {
        try await TestLoop.run { test in
            var table = TopicTable(TopicOptions(), epoch: "e")
            let first = try table.join("a", on: test.loop, .none, at: Self.now)
            try Self.expect(1, "a", &table)
            table.leave(first.slot, first.delivery)
            let second = try table.join("b", on: test.loop, .none, at: Self.now)
            #expect(second.slot == first.slot && second.audience != first.audience)
            try Self.expect(0, "a", &table)
            try Self.expect(1, "b", &table)
            // What waited for the loop that everybody had left is nobody's.
            let (gone, come) = (table.takeBatch(of: first.delivery), table.takeBatch(of: second.delivery))
            #expect(gone.items.isEmpty && come.items.map(\.audience) == [second.audience])
        }
    }

    @Test("A pattern that comes or goes is seen by topics that are there")
    func patterns() async throws {
        try await TestLoop.run { test in
            var table = TopicTable(TopicOptions(), epoch: "e")
            _ = try table.join("a/b", on: test.loop, .none, at: Self.now)
            try Self.expect(1, "a/b", &table)
            let one = try table.join("a/+", on: test.loop, .none, at: Self.now)
            try Self.expect(2, "a/b", &table)
            let two = try table.join("#", on: test.loop, .none, at: Self.now)
            try Self.expect(3, "a/b", &table)
            try Self.expect(1, "c", &table)
            table.leave(one.slot, one.delivery)
            try Self.expect(2, "a/b", &table)
            table.leave(two.slot, two.delivery)
            try Self.expect(1, "a/b", &table)
            try Self.expect(0, "c", &table)
            #expect(table.recordCount == 1)
        }
    }

    @Test("A topic without a history has nothing to be caught up with")
    func nothingToCatchUp() async throws {
        try await TestLoop.run { test in
            var table = TopicTable(TopicOptions(), epoch: "e")
            let start = try table.join("a", on: test.loop, .last(3), at: Self.now)
            try Self.expect(1, "a", &table)
            guard case .live(let barrier) = table.next(in: start.slot, behind: 7, start.delivery) else {
                Issue.record("It would be asked for ever.")
                return
            }
            #expect(barrier == 1)
        }
    }

    @Test("A pattern isn't published to, whether or not somebody is subscribed to it")
    func notPublished() async throws {
        try await TestLoop.run { test in
            var table = TopicTable(TopicOptions(), epoch: "e")
            #expect(throws: TopicError.self) { try table.publish("a/+", Self.hello, at: Self.now) }
            _ = try table.join("a/+", on: test.loop, .none, at: Self.now)
            #expect(throws: TopicError.self) { try table.publish("a/+", Self.hello, at: Self.now) }
        }
    }

    @Test("Loops are asked in the order of their subscriptions, each once")
    func loops() async throws {
        try await TestLoop.run { one in
            try await TestLoop.run { two in
                var table = TopicTable(TopicOptions(), epoch: "e")
                for loop in [one.loop, two.loop, one.loop] { _ = try table.join("a", on: loop, .none, at: Self.now) }
                let published = try table.publish("a", Self.hello, at: Self.now)
                #expect(
                    published.count == 3
                        && published.asked.map { ObjectIdentifier($0.loop) } == [
                            ObjectIdentifier(one.loop), ObjectIdentifier(two.loop),
                        ]
                )
                let again = try table.publish("a", Self.hello, at: Self.now)
                #expect(again.asked.isEmpty)
            }
        }
    }
}
