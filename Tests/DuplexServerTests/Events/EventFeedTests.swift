// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Synchronization
import Testing

@Suite("Feeds", .timeLimit(minutes: 1))
struct EventFeedTests {
    private static func testing(
        _ feed: EventFeed,
        replay: Int = 0,
        _ body: (TestClient) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.events("/", of: feed, replay: replay) { request in
            try? ServerSentEvent("missed behind \(request.lastEventID ?? "")", event: "missed")
        }
        try await server.test(body)
    }

    @Test("All clients get what is published, with the feed's ids or the app's")
    func publish() async throws {
        let feed = EventFeed()
        try await Self.testing(feed) { client async throws in
            let streams = [try await client.events("/"), try await client.events("/")]
            #expect(feed.streamCount == 2)
            let first = try feed.publish("one", event: "t")
            #expect(first.hasSuffix("-1"))
            #expect(try feed.publish("two", id: "2") == "2")
            for stream in streams {
                #expect(try await stream.next() == .event(type: "t", data: "one", lastEventID: first))
                #expect(try await stream.next() == .event(type: "message", data: "two", lastEventID: "2"))
            }
        }
    }

    @Test("Who comes back gets what it lacks, none missing and none twice")
    func comesBack() async throws {
        let feed = EventFeed()
        try await Self.testing(feed) { client async throws in
            let stream = try await client.events("/")
            let first = try feed.publish("1")
            try feed.publish("2", id: "two")
            #expect(try await stream.nextData() == "1")
            await stream.close()
            try feed.publish("3")
            for (id, data) in [(first, ["2", "3", "4"]), ("two", ["3", "4"]), (feed.lastID, ["4"])] {
                let again = try await client.events("/", lastEventID: id)
                if data == ["2", "3", "4"] { try feed.publish("4") }
                for text in data { #expect(try await again.nextData() == text) }
                await again.close()
            }
        }
    }

    @Test("Who was cut off before the first event has missed nothing either")
    func beforeTheFirst() async throws {
        let feed = EventFeed()
        try await Self.testing(feed) { client async throws in
            let stream = try await client.events("/")
            // The id comes in an event that nobody sees: the comment behind it shows that it has come.
            await client.clock.advance(by: .seconds(15))
            #expect(try await stream.next() == .comment(""))
            await stream.close()
            try feed.publish("1")
            let again = try await client.events("/", lastEventID: await stream.lastEventID)
            #expect(try await again.nextData() == "1")
        }
    }

    @Test("Who lacks events that aren't kept any more is told, and gets those that are", arguments: ["1", "x", "0"])
    func missed(id: String) async throws {
        let feed = EventFeed(keeping: 2)
        for number in 1...4 { try feed.publish("\(number)", id: "\(number)") }
        try await Self.testing(feed) { client async throws in
            let stream = try await client.events("/", lastEventID: id)
            #expect(try await stream.nextData() == "missed behind \(id)")
            #expect(try await stream.nextData() == "3")
            #expect(try await stream.nextData() == "4")
            let fine = try await client.events("/", lastEventID: "3")
            #expect(try await fine.nextData() == "4")
            // Told once: what it has been given since is known.
            let told = try await client.events("/", lastEventID: await stream.lastEventID)
            try feed.publish("5")
            #expect(try await told.nextData() == "5")
        }
    }

    @Test("The ids of another feed are none of this one's")
    func others() async throws {
        let old = EventFeed()
        let id = try old.publish("1")
        let feed = EventFeed()
        try feed.publish("1")
        try feed.publish("2")
        try await Self.testing(feed) { client async throws in
            let stream = try await client.events("/", lastEventID: id)
            #expect(try await stream.nextData() == "missed behind \(id)")
            #expect(try await stream.nextData() == "1")
        }
    }

    @Test("A new client gets as many of the last events as the route says")
    func replay() async throws {
        let feed = EventFeed(keeping: 3)
        for number in 1...5 { try feed.publish("\(number)") }
        try await Self.testing(feed, replay: 2) { client async throws in
            let stream = try await client.events("/")
            #expect(try await stream.nextData() == "4")
            #expect(try await stream.nextData() == "5")
        }
        try await Self.testing(feed, replay: 9) { client async throws in
            let stream = try await client.events("/")
            #expect(try await stream.nextData() == "3")
        }
    }

    @Test("Behind its end a feed takes nothing, and its streams end behind the last event")
    func finish() async throws {
        let feed = EventFeed()
        try await Self.testing(feed) { client async throws in
            let stream = try await client.events("/")
            try feed.publish("last")
            feed.finish()
            #expect(feed.isFinished)
            let error = #expect(throws: EventStreamError.self) { try feed.publish("more") }
            #expect(error?.code == .finished)
            #expect(try await stream.nextData() == "last")
            #expect(try await stream.nextData() == nil)
            #expect(try await client.events("/", lastEventID: await stream.lastEventID).head.status == .noContent)
        }
    }

    @Test("A client that is cut off again and again gets every event once, while others publish from other threads")
    func exactlyOnce() async throws {
        let count = 3_000
        let feed = EventFeed(keeping: count)
        let server = { () -> WebServer in
            var server = WebServer(port: 0)
            server.events("/", of: feed, replay: count)
            return server
        }()
        try await server.test { client async throws in
            let publishing = Task { @concurrent in
                for number in 0..<count {
                    try feed.publish("\(number)", id: number % 2 == 0 ? nil : "own \(number)")
                    if number % 7 == 0 { await Task.yield() }
                }
            }
            var random = SeededGenerator(seed: 3)
            var seen: [Int] = []
            var lastEventID: String?
            while seen.last != count - 1 {
                let stream = try await client.events("/", lastEventID: lastEventID)
                for _ in 0..<Int.random(in: 1...100, using: &random) where seen.last != count - 1 {
                    guard let data = try await stream.nextData() else { break }
                    seen.append(Int(data) ?? -1)
                }
                lastEventID = await stream.lastEventID
                await stream.connection.reset()
            }
            try await publishing.value
            #expect(seen == Array(0..<count))
        }
        #expect(feed.streamCount == 0)
    }
}
