// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("A feed's events on their way to a loop", .timeLimit(minutes: 1))
struct FeedLoopTests {
    /// Publishes 20 events of 1 MB while the loop that sends them is busy: more than waits for a loop.
    private static func burst(
        keeping size: ByteCount,
        _ body: (TestClient, TestEventStream) async throws -> Void
    ) async throws {
        let feed = EventFeed(size: size)
        let megabyte = String(repeating: "x", count: 1_000_000)
        var server = WebServer(port: 0)
        server.events("/", of: feed, slow: .end(after: .mebibytes(64)))
        server.get("/burst") { _ in
            for number in 0..<20 { try feed.publish("\(number) \(megabyte)") }
            return "done"
        }
        try await server.test { client async throws in
            client.capacity = .mebibytes(64)
            let stream = try await client.events("/")
            try feed.publish("before")
            #expect(try await stream.nextData() == "before")
            #expect(try await client.get("/burst").text == "done")
            try await body(client, stream)
        }
    }

    @Test("More streams than are sent to at once all get every event, also when some of them have gone")
    func many() async throws {
        let feed = EventFeed()
        var server = WebServer(port: 0)
        server.limits = .local
        server.events("/", of: feed)
        server.get("/three") { _ in
            for number in 1...3 { try feed.publish("\(number)") }
            return "done"
        }
        try await server.test { client async throws in
            var streams: [TestEventStream] = []
            for _ in 0..<150 { streams.append(try await client.events("/")) }
            #expect(try await client.get("/three").text == "done")
            for stream in streams {
                for number in 1...3 { #expect(try await stream.nextData() == "\(number)") }
            }
            for stream in streams.prefix(70) { await stream.close() }
            try feed.publish("4")
            for stream in streams.dropFirst(70) { #expect(try await stream.nextData() == "4") }
        }
    }

    @Test("Streams that are too many for one turn all get every event, and the end of the feed behind them")
    func manyTurns() async throws {
        let feed = EventFeed()
        var server = WebServer(port: 0)
        server.limits = .local
        server.events("/", of: feed, heartbeat: nil)
        try await server.test { client async throws in
            var streams: [TestEventStream] = []
            for _ in 0..<300 { streams.append(try await client.events("/")) }
            guard case .manual(let time) = client.loop.loop.clock else {
                Issue.record("The loop has the machine's clock.")
                return
            }
            // Each look at the clock takes as long as a share of a turn.
            time.pass(.milliseconds(5))
            try feed.publish("1")
            try feed.publish("2")
            // It comes while the first two are on their way.
            await client.loop.loop.make { _ in }
            try feed.publish("3")
            feed.finish()
            await client.loop.settle()
            time.pass(.zero)
            for stream in streams {
                for number in 1...3 { #expect(try await stream.nextData() == "\(number)") }
                #expect(try await stream.nextData() == nil)
            }
        }
    }

    @Test("What a busy loop can't hold is taken from the feed")
    func overrun() async throws {
        try await Self.burst(keeping: .mebibytes(64)) { _, stream async throws in
            for number in 0..<20 { #expect(try await stream.nextData()?.hasPrefix("\(number) ") == true) }
        }
    }

    @Test("What the feed doesn't keep either ends the streams, and none has a gap")
    func lost() async throws {
        try await Self.burst(keeping: .mebibytes(3)) { client, stream async throws in
            #expect(try await stream.nextData() == nil)
            let again = try await client.events("/", lastEventID: await stream.lastEventID)
            #expect(try await again.nextData()?.hasPrefix("19 ") == true)
        }
    }
}
