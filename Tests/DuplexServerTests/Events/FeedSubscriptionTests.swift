// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@Suite("Clients of a feed that are behind it", .timeLimit(minutes: 1))
struct FeedSubscriptionTests {
    private static let padding = String(repeating: "x", count: 1_024)

    /// Publishes so many events of 1 KiB to a client that doesn't read, and sees that the loop has looked at them.
    private static func serve(
        _ count: Int,
        _ feed: EventFeed,
        _ slow: SlowReaderPolicy<ServerSentEvent> = .wait,
        _ body: (TestClient, TestEventStream) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.events("/", of: feed, heartbeat: nil, slow: slow)
        try await server.test { client async throws in
            client.capacity = .kibibytes(4)
            let stream = try await client.events("/")
            for number in 0..<count {
                try feed.publish("\(number) \(padding)", event: "key \(number % 3)")
                if number % 10 == 0 { await client.loop.settle() }
            }
            await client.loop.settle()
            try await body(client, stream)
        }
    }

    private static func numbers(of stream: TestEventStream, upTo last: Int) async throws -> [Int] {
        var numbers: [Int] = []
        while numbers.last != last, let data = try await stream.nextData() {
            numbers.append(Int(data.prefix { $0 != " " }) ?? -1)
        }
        return numbers
    }

    @Test("By default it goes on from what the feed keeps, and misses nothing")
    func catchesUp() async throws {
        let feed = EventFeed()
        try await Self.serve(500, feed) { _, stream async throws in
            #expect(try await Self.numbers(of: stream, upTo: 499) == Array(0..<500))
            // And is given new ones again.
            try feed.publish("500 ")
            #expect(try await stream.nextData() == "500 ")
        }
    }

    @Test("One that lacks what isn't kept any more is ended: no stream has a gap")
    func fallsOut() async throws {
        try await Self.serve(500, EventFeed(keeping: 10)) { _, stream async throws in
            let numbers = try await Self.numbers(of: stream, upTo: 499)
            #expect(numbers.count < 100 && numbers == Array(0..<numbers.count))
        }
    }

    @Test("The newest wait, or the newest of each key, where the route says so")
    func drops() async throws {
        try await Self.serve(500, EventFeed(), .dropOldest(keeping: 5)) { _, stream async throws in
            #expect(try await Self.numbers(of: stream, upTo: 499).suffix(5) == [495, 496, 497, 498, 499])
        }
        try await Self.serve(500, EventFeed(), .latest(by: \.event)) { _, stream async throws in
            let numbers = try await Self.numbers(of: stream, upTo: 499)
            #expect(numbers.suffix(3) == [497, 498, 499] && numbers.count < 100)
        }
    }

    @Test("One that lacks too much is ended where the route says so; what is kept is given to it as it takes it")
    func ends() async throws {
        let feed = EventFeed()
        try await Self.serve(500, feed, .end(after: .kibibytes(16))) { client, stream async throws in
            #expect(feed.streamCount == 0)
            await #expect(throws: (any Error).self) { try await Self.numbers(of: stream, upTo: 499) }
            // More than the policy lets wait: a replay isn't what a slow reader is.
            let again = try await client.events("/", lastEventID: await stream.lastEventID)
            let seen = try await Self.numbers(of: again, upTo: 499)
            #expect(seen.count > 400 && seen == Array((500 - seen.count)..<500))
        }
    }

    @Test("A feed that ends while a client is behind ends the stream behind its last event")
    func finishes() async throws {
        let feed = EventFeed()
        try await Self.serve(500, feed) { client, stream async throws in
            feed.finish()
            await client.loop.settle()
            #expect(feed.streamCount == 1)
            #expect(try await Self.numbers(of: stream, upTo: 499) == Array(0..<500))
            #expect(try await stream.nextData() == nil)
        }
    }
}
