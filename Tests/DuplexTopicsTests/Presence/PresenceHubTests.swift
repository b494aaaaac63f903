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

@Suite("Presence that is joined to other machines", .timeLimit(minutes: 1))
struct PresenceLinkTests {
    @Test("Who is there by this node is said behind the grace, and others are asked who is there")
    func links() async throws {
        try await TestLoop.run { test in
            let told = Told<String>()
            let link = PresenceLink(
                enter: { member, topic in told.add("\(topic) + \(member.id) \(member.info)") },
                leave: { id, topic in told.add("\(topic) - \(id)") },
                watch: { topic, isWatched in told.add("\(topic) \(isWatched)") },
                members: { _, limit throws(TopicError) in [PresenceMember(id: "far", info: "\(limit)")] },
                count: { topic throws(TopicError) in throw TopicError(.unavailable, topic) }
            )
            let hub = PresenceHub(TopicOptions(), clock: test.loop.clock, on: test.group, link: link)
            let presence = TopicPresence(hub, "a")
            var changes = presence.changes.makeAsyncIterator()
            let entries = try (0..<2).map { try presence.enter(as: PresenceMember(id: "x", info: "\($0)")) }
            for entry in entries { entry.leave() }
            await test.advance(by: .seconds(4))
            #expect(told.all == ["a true", "a + x 0", "a + x 1"])
            await test.advance(by: .seconds(2))
            #expect(told.all.last == "a - x")
            hub.told(.joined(PresenceMember(id: "far")), in: "a")
            #expect(try await changes.next() == .joined(PresenceMember(id: "far")))
            #expect(try await presence.members(limit: 7) == [PresenceMember(id: "far", info: "7")])
            await #expect(throws: TopicError(.unavailable, "a")) { try await presence.count }
        }
    }

    @Test("One that answers within the call is heard, and holds up nobody")
    func within() async throws {
        let box = Bulletin<PresenceHub?>(nil)
        let link = PresenceLink(
            enter: { member, topic in box.value?.told(.joined(member), in: topic) },
            leave: { id, topic in box.value?.told(.left(PresenceMember(id: id)), in: topic) },
            watch: { _, _ in },
            members: { _, _ throws(TopicError) in [] },
            count: { _ throws(TopicError) in 0 }
        )
        var options = TopicOptions()
        options.presenceGrace = .zero
        let hub = PresenceHub(options, clock: .system, link: link)
        box.change { $0 = hub }
        // The hub holds the link, and the link the box.
        defer { box.change { $0 = nil } }
        var changes = TopicPresence(hub, "a").changes.makeAsyncIterator()
        try hub.enter(PresenceMember(id: "x"), in: "a").leave()
        #expect(try await changes.next() == .joined(PresenceMember(id: "x")))
        #expect(try await changes.next() == .left(PresenceMember(id: "x")))
    }
}
