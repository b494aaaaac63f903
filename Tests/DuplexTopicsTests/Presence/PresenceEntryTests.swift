// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTopics
import Testing

@Suite("Somebody who is present by code", .timeLimit(minutes: 1))
struct PresenceEntryTests {
    private static var presence: TopicPresence {
        var options = TopicOptions()
        options.presenceGrace = .zero
        return Topics(options)["a"].presence
    }

    @Test("They leave once, and by being dropped; what they say then is heard by nobody")
    func leaves() async throws {
        let presence = Self.presence
        let entry = try presence.enter(as: PresenceMember(id: "x"))
        try entry.say("new")
        #expect(try await presence.members() == [PresenceMember(id: "x", info: "new")])
        do {
            let other = try presence.enter(as: PresenceMember(id: "y"))
            #expect(try await presence.count == 2)
            #expect(other.id == "y" && other.topic == "a")
        }
        #expect(try await presence.count == 1)
        entry.leave()
        entry.leave()
        try entry.say("late")
        #expect(try await presence.count == 0)
    }

    @Test("Two entries for one are one, for as long as there is one of them")
    func twice() async throws {
        let presence = Self.presence
        let entries = try (0..<2).map { _ in try presence.enter(as: PresenceMember(id: "x")) }
        #expect(try await presence.count == 1)
        entries[0].leave()
        entries[0].leave()
        #expect(try await presence.count == 1)
        entries[1].leave()
        #expect(try await presence.count == 0)
    }
}
