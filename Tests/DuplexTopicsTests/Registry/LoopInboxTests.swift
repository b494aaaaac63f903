// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What waits for a loop")
struct LoopInboxTests {
    private static func entry(_ text: String) -> TopicEntry { TopicEntry("a", nil, .message(.text(text))) }

    @Test("A loop is asked once for all that waits, and numbers go on")
    func asksOnce() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            var asked = [inbox.append(Self.entry("1"), 7, 10_000), inbox.append(Self.entry("2"), 8, 10_000)]
            #expect(asked == [true, false] && inbox.next == 2)
            let batch = inbox.take()
            #expect(batch.first == 0 && batch.items.map(\.audience) == [7, 8] && batch.lost.isEmpty)
            let empty = inbox.take()
            #expect(inbox.next == 2 && empty.items.isEmpty)
            asked = [inbox.append(Self.entry("3"), 7, 10_000)]
            let last = inbox.take()
            #expect(asked == [true] && last.first == 2)
        }
    }

    @Test("A subscription that began in between lacks what came behind it only")
    func early() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            inbox.begin(1)
            var barriers = [inbox.next]
            for audience in [1, 1, 2, 1] as [UInt64] {
                _ = inbox.append(Self.entry("x"), audience, 700)
                inbox.begin(1)
                inbox.begin(1)
                barriers.append(inbox.next)
            }
            // Loses those four, and then this one.
            for audience in [1, 1] as [UInt64] {
                _ = inbox.append(Self.entry(String(repeating: "x", count: 600)), audience, 700)
                inbox.begin(1)
                barriers.append(inbox.next)
            }
            let batch = inbox.take()
            #expect(batch.first == 5 && batch.lost[1]?.count == 4)
            #expect(barriers.map { batch.lost[1]?.count(behind: $0) } == [4, 3, 2, 2, 1, 0, 0])
        }
    }

    @Test("Beyond its bound all that waits is lost, and counted for each topic; one alone may be longer")
    func overruns() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            for audience in [1, 1, 2, 1] as [UInt64] { _ = inbox.append(Self.entry("x"), audience, 700) }
            _ = inbox.append(Self.entry(String(repeating: "x", count: 1_000)), 3, 700)
            _ = inbox.append(Self.entry("y"), 1, 700)
            let batch = inbox.take()
            #expect(batch.lost.mapValues(\.count) == [1: 3, 2: 1, 3: 1])
            #expect(batch.first == 5 && batch.items.map(\.audience) == [1] && inbox.next == 6)
        }
    }
}
