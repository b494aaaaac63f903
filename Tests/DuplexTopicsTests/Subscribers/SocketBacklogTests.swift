// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What waits for clients that are behind")
struct SocketBacklogTests {
    private static let now = Instant(nanoseconds: 1)

    /// 1,000 bytes, as they are counted.
    private static func entry(_ text: String) -> TopicEntry {
        TopicEntry("a", nil, .message(.text(text + String(repeating: "x", count: 840 - text.utf8.count))))
    }

    private static func keep(
        _ numbers: Range<Int>,
        in backlog: SocketBacklog,
        _ policy: SlowReaderPolicy<TopicMessage>
    ) -> [Bool] {
        numbers.map { backlog.keep(entry("\($0)"), policy, 5_000, at: now) }
    }

    private static func rest(_ backlog: SocketBacklog) -> [Int] {
        var numbers: [Int] = []
        while let entry = backlog.popFirst() {
            numbers.append(Int(entry.message.description.prefix { $0 != "x" }) ?? -1)
        }
        return numbers
    }

    @Test("All subscriptions of a connection share one bound, each by its policy")
    func shared() {
        let connection = SocketBacklog.Connection()
        let (oldest, newest) = (SocketBacklog(connection), SocketBacklog(connection))
        let (dropsOldest, dropsNewest) = (
            SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 10, size: 4_000),
            SlowReaderPolicy<TopicMessage>.dropNewest(keeping: 10, size: 4_000)
        )
        let stays = [
            Self.keep(0..<2, in: newest, dropsNewest), Self.keep(2..<7, in: oldest, dropsOldest),
            Self.keep(7..<9, in: newest, dropsNewest), Self.keep(9..<10, in: oldest, dropsOldest),
        ]
        #expect(stays.allSatisfy { $0.allSatisfy { $0 } } && connection.size == 5_000)
        #expect(newest.dropped == 2 && oldest.dropped == 3)
        let third = SocketBacklog(connection)
        #expect(Self.keep(10..<11, in: third, dropsOldest) == [true] && third.dropped == 1 && !third.isWaiting)
        #expect(Self.keep(10..<11, in: third, .end()) == [true], "Its own policy says more.")
        #expect(Self.keep(11..<12, in: third, .end(after: 4_000)) == [false])
        #expect(Self.rest(newest) == [0, 1] && Self.rest(oldest) == [5, 6, 9] && Self.rest(third) == [10])
        #expect(connection.size == 0 && !newest.isWaiting)
    }

    @Test("What goes leaves its room to others")
    func leaves() {
        let connection = SocketBacklog.Connection()
        let (one, two) = (SocketBacklog(connection), SocketBacklog(connection))
        #expect(Self.keep(0..<5, in: one, .end(after: 5_000)) == [true, true, true, true, true])
        #expect(Self.keep(5..<6, in: two, .end(after: 5_000)) == [false])
        one.removeAll()
        #expect(Self.keep(6..<7, in: two, .end(after: 5_000)) == [true] && connection.size == 1_000)
    }

    @Test("A client that takes nothing of the past is looked at by its patience")
    func deadline() {
        let backlog = SocketBacklog(SocketBacklog.Connection())
        #expect(backlog.deadline(.seconds(5)) == nil)
        backlog.stalledSince = Self.now
        #expect(backlog.deadline(.seconds(5)) == Self.now.advanced(by: .seconds(5)))
        #expect(backlog.deadline(nil) == nil)
    }
}
