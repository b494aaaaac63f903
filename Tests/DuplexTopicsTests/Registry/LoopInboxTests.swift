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

    @Test("Beyond its bound all that waits is lost, and counted for each topic; one alone may be longer")
    func overruns() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            for audience in [1, 1, 2, 1] as [UInt64] { _ = inbox.append(Self.entry("x"), audience, 700) }
            _ = inbox.append(Self.entry(String(repeating: "x", count: 1_000)), 3, 700)
            _ = inbox.append(Self.entry("y"), 1, 700)
            let batch = inbox.take()
            #expect(batch.lost == [1: 3, 2: 1, 3: 1])
            #expect(batch.first == 5 && batch.items.map(\.audience) == [1] && inbox.next == 6)
        }
    }
}
