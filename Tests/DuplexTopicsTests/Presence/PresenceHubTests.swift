// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Presence in one process", .timeLimit(minutes: 1))
struct PresenceHubTests {
    @Test("Graces that begin at different times are over at theirs")
    func graces() async throws {
        try await TestLoop.run { test in
            let hub = PresenceHub(TopicOptions(), clock: test.loop.clock, on: test.group)
            var changes = TopicPresence(hub, "b").changes.makeAsyncIterator()
            for (topic, id) in [("a", "1"), ("b", "2"), ("b", "3")] {
                try hub.enter(PresenceMember(id: id), in: topic).leave()
                await test.advance(by: .seconds(2))
            }
            #expect(hub.counts.members == 2, "The first is gone after 5 seconds of 6.")
            #expect(try await changes.next() == .joined(PresenceMember(id: "2")))
            #expect(try await changes.next() == .joined(PresenceMember(id: "3")))
            await test.advance(by: .milliseconds(1_100))
            #expect(hub.counts.members == 1)
            #expect(try await changes.next() == .left(PresenceMember(id: "2")))
            await test.advance(by: .milliseconds(2_000))
            #expect(try await changes.next() == .left(PresenceMember(id: "3")))
            #expect(hub.counts.members == 0 && hub.counts.topics == 1)
        }
    }

    @Test("Many tasks at once: at rest everybody is counted once, and every watcher was told the same")
    func many() async throws {
        var options = TopicOptions()
        options.presenceGrace = .zero
        let hub = PresenceHub(options, clock: .system)
        let presence = TopicPresence(hub, "a")
        var iterators = (0..<3).map { _ in presence.changes.makeAsyncIterator() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<50 { try presence.enter(as: PresenceMember(id: "\(number)")).leave() }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await presence.count == 0 && hub.counts.members == 0)
        let last = try presence.enter(as: PresenceMember(id: "last"))
        var told: [[PresenceChange]] = []
        for index in iterators.indices {
            var changes: [PresenceChange] = []
            while changes.last != .joined(PresenceMember(id: "last")), let change = try await iterators[index].next() {
                changes.append(change)
            }
            told.append(changes)
        }
        #expect(told[0].count == 801 && told[1] == told[0] && told[2] == told[0])
        last.leave()
    }
}
