// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Who is present", .timeLimit(minutes: 1))
struct TopicPresenceTests {
    @Test("WebSockets are there until their end and for a grace behind it; two of one member are one")
    func sockets() async throws {
        try await TopicFixture.run { fixture in
            let (room, pairs) = (fixture.topics["room/1"], [await fixture.pair(), await fixture.pair()])
            var changes = room.presence.changes.makeAsyncIterator()
            for pair in pairs { try await pair.server.enter(room, as: "ann", info: "hi") }
            #expect(try await room.presence.members() == [PresenceMember(id: "ann", info: "hi")])
            try await pairs[0].server.enter(room, as: "ann", info: "ho")
            await pairs[0].client.reset()
            await fixture.test.advance(by: .seconds(6))
            #expect(try await room.presence.count == 1)
            _ = await pairs[1].client.close()
            await fixture.test.advance(by: .seconds(4))
            #expect(try await room.presence.count == 1)
            await fixture.test.advance(by: .seconds(2))
            #expect(try await room.presence.count == 0)
            #expect(try await changes.next() == .joined(PresenceMember(id: "ann", info: "hi")))
            #expect(try await changes.next() == .joined(PresenceMember(id: "ann", info: "ho")))
            #expect(try await changes.next() == .left(PresenceMember(id: "ann", info: "ho")))
        }
    }

    @Test("Whoever comes back within the grace was never away")
    func comesBack() async throws {
        try await TopicFixture.run { fixture in
            let room = fixture.topics["room/1"]
            let (one, two) = (await fixture.pair(), await fixture.pair())
            var changes = room.presence.changes.makeAsyncIterator()
            try await one.server.enter(room, as: "ann")
            await one.client.reset()
            await fixture.test.advance(by: .seconds(4))
            try await two.server.enter(room, as: "ann")
            await fixture.test.advance(by: .seconds(10))
            try await two.server.enter(room, as: "bob")
            await fixture.test.advance(by: .seconds(10))
            #expect(try await changes.next() == .joined(PresenceMember(id: "ann")))
            #expect(try await changes.next() == .joined(PresenceMember(id: "bob")))
            #expect(try await changes.next() == .left(PresenceMember(id: "ann")))
            await two.server.leave(room)
            await two.server.leave(room)
            await fixture.test.advance(by: .seconds(10))
            #expect(try await room.presence.count == 0)
        }
    }

    @Test("An event stream is there while it is subscribed")
    func streams() async throws {
        var options = TopicOptions()
        options.presenceGrace = .zero
        let topics = Topics(options: options)
        let room = topics["room/1"]
        var server = WebServer(port: 0)
        server.events("/") { stream in
            try await room.presence.enter(as: PresenceMember(id: "ann")) { try await stream.subscribe(to: room) }
        }
        try await server.test { client async throws in
            var changes = room.presence.changes.makeAsyncIterator()
            let events = try await client.events("/")
            #expect(try await changes.next() == .joined(PresenceMember(id: "ann")))
            await events.close()
            #expect(try await changes.next() == .left(PresenceMember(id: "ann")))
        }
    }

    @Test("Nobody is present in a pattern, nor on a connection that has ended")
    func refuses() async throws {
        let topics = Topics()
        await #expect(throws: TopicError.self) { try await topics["a/#"].presence.count }
        await #expect(throws: TopicError.self) { try await topics["a//b"].presence.members() }
        #expect(throws: TopicError.self) { try topics["a/#"].presence.enter(as: PresenceMember(id: "x")) }
        let pair = await WebSocketPair()
        _ = await pair.client.close()
        _ = await pair.server.close()
        await #expect(throws: TopicError.self) { try await pair.server.enter(topics["a"], as: "x") }
        #expect(try await topics["a"].presence.count == 0)
    }
}

@Suite("Somebody who is present by code", .timeLimit(minutes: 1))
struct PresenceEntryTests {
    private static var presence: TopicPresence {
        var options = TopicOptions()
        options.presenceGrace = .zero
        return Topics(options: options)["a"].presence
    }

    @Test("They leave once, and by being dropped; what they say then is heard by nobody")
    func leaves() async throws {
        let presence = Self.presence
        let entry = try presence.enter(as: PresenceMember(id: "x"))
        try entry.update(info: "new")
        #expect(try await presence.members() == [PresenceMember(id: "x", info: "new")])
        do {
            let other = try presence.enter(as: PresenceMember(id: "y"))
            #expect(try await presence.count == 2)
            #expect(other.id == "y" && other.topic == "a")
        }
        #expect(try await presence.count == 1)
        entry.leave()
        entry.leave()
        try entry.update(info: "late")
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

@Suite("Watching who comes and goes", .timeLimit(minutes: 1))
struct PresenceChangesTests {
    @Test("One that is behind by more than 1,000 gets those, and is told then")
    func behind() async throws {
        var options = TopicOptions()
        options.presenceGrace = .zero
        let presence = Topics(options: options)["a"].presence
        var changes = presence.changes.makeAsyncIterator()
        for number in 0..<501 { try presence.enter(as: PresenceMember(id: "\(number)")).leave() }
        for number in 0..<500 {
            #expect(try await changes.next() == .joined(PresenceMember(id: "\(number)")))
            #expect(try await changes.next() == .left(PresenceMember(id: "\(number)")))
        }
        do throws(TopicError) {
            _ = try await changes.next(isolation: #isolation)
            Issue.record("It wasn't told.")
        } catch {
            #expect(error.code == .slowSubscriber)
        }
    }

    @Test("A task that is cancelled ends, and a name that isn't valid is told at the first change")
    func ends() async throws {
        let presence = Topics()["a"].presence
        let task = Task {
            var iterator = presence.changes.makeAsyncIterator()
            return try await iterator.next()
        }
        task.cancel()
        #expect(try await task.value == nil)
        var invalid = Topics()["a/#"].presence.changes.makeAsyncIterator()
        await #expect(throws: TopicError.self) { try await invalid.next() }
    }
}
