// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import Testing

@testable import DuplexTopics

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
        var changes = TopicPresence(hub, "a").changes.makeAsyncIterator()
        try hub.enter(PresenceMember(id: "x"), in: "a").leave()
        #expect(try await changes.next() == .joined(PresenceMember(id: "x")))
        #expect(try await changes.next() == .left(PresenceMember(id: "x")))
    }
}
