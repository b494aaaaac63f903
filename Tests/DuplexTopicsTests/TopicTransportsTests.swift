// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Topics over connections of every kind", .timeLimit(minutes: 2))
struct TopicTransportsTests {
    @Test(
        "A client over TCP is behind, catches up and lacks exactly what was dropped",
        arguments: [true, false],
        [true, false]
    )
    func behind(_ isSecured: Bool, _ isCompressed: Bool) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let topics = Topics()
        let (subscriptions, subscribed) = AsyncStream<TopicSubscription>.makeStream()
        try await withServer { server in
            if isSecured { server.tls = TLSServerOptions.patient(identity) }
            if isCompressed { server.webSockets.compression = .enabled }
            server.webSocket("/") { socket in
                subscribed.yield(try socket.subscribe(to: topics["a"], slow: .dropOldest(keeping: 5)))
                for try await _ in socket.messages {}
            }
        } _: { address in
            var options = WebSocketOptions()
            options.tls.trust = .roots(identity.certificates)
            options.compression = isCompressed ? .enabled : .disabled
            let url = isSecured ? "wss://localhost:\(address.port)/" : "ws://\(address)/"
            let client = try await WebSocket.connect(to: url, options: options)
            let agreement = await client.compression
            #expect((agreement != nil) == isCompressed)
            for await subscription in subscriptions {
                try await Self.run(client, subscription, topics)
                break
            }
            await client.close()
        }
        #expect(topics.subscriptionCount == 0)
    }

    private static func run(_ client: WebSocket, _ subscription: TopicSubscription, _ topics: Topics) async throws {
        var random = SeededGenerator(seed: 7)
        var published: [[UInt8]] = []
        // As much as the system's buffers hold, and some more: bytes that can't be compressed.
        while await subscription.dropped < 20 {
            try #require(published.count < 10_000)
            published.append((0..<16_384).map { _ in UInt8.random(in: 0...255, using: &random) })
            topics["a"].publish(published[published.count - 1])
        }
        topics["a"].publish("end")
        var next = 0
        var count = 0
        while case .binary(let bytes) = try await client.receive() {
            // Those that were dropped are passed over; none comes out of its turn.
            while next < published.count, published[next] != bytes { next += 1 }
            try #require(next < published.count)
            next += 1
            count += 1
        }
        #expect(await subscription.dropped == published.count - count)
        #expect(topics.counts.delivered == count + 1)
    }

    /// Goes from one topic to the other whenever there is room again, which is in the middle of what is published.
    private struct Restless: WebSocketHandler {
        let topics: Topics
        let slow: SlowReaderPolicy<TopicMessage>
        let closes: Bool
        func opened(_ socket: isolated WebSocket) { _ = try? socket.subscribe(to: topics["a"], slow: slow) }
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
        func becameWritable(_ socket: isolated WebSocket) {
            if closes { return socket.beginClose(.normalClosure) }
            for name in ["a", "b"] {
                socket.unsubscribe(from: topics[name])
                _ = try? socket.subscribe(to: topics[name], slow: slow)
            }
        }
    }

    @Test(
        "Who subscribes anew in the middle of what is published gets nothing twice, and all that comes later",
        arguments: [
            SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 5), .dropNewest(keeping: 5), .end(after: .mebibytes(8)),
            .wait,
        ]
    )
    func restless(_ slow: SlowReaderPolicy<TopicMessage>) async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 10_000, size: .mebibytes(16)))
        } _: { fixture in
            let handler = Restless(topics: fixture.topics, slow: slow, closes: false)
            let pair = await WebSocketPair(on: fixture.test.group, capacity: .kibibytes(64), serverHandler: handler)
            await fixture.test.settle()
            let isOver = Bulletin(false)
            async let last = Self.last(pair.client, isOver)
            for round in 0..<20 {
                for number in 0..<100 {
                    for name in ["a", "b"] {
                        fixture.topics[name].publish("\(name) \(TopicFixture.long(round * 100 + number))")
                    }
                }
                await fixture.test.settle()
            }
            // What is on its way to a subscription that is taken back doesn't come.
            while !isOver.value {
                fixture.topics["a"].publish("end")
                await fixture.test.settle()
            }
            let numbers = try await last
            #expect(numbers["a"] ?? 0 > 0)
            await pair.client.reset()
            await fixture.test.settle()
            #expect(fixture.topics.subscriptionCount == 0)
        }
    }

    /// Takes all up to the end: the last number of each topic.
    private static func last(_ client: WebSocket, _ isOver: Bulletin<Bool>) async throws -> [Substring: Int] {
        defer { isOver.change { $0 = true } }
        var last: [Substring: Int] = [:]
        while true {
            let parts = try await client.receive().description.split(separator: " ")
            guard parts.count == 3, let number = Int(parts[1]) else { return last }
            #expect(number > last[parts[0]] ?? -1)
            last[parts[0]] = number
        }
    }

    @Test("Who closes in the middle of what is published is in nobody's way")
    func closing() async throws {
        try await TopicFixture.run { fixture in
            let quick = await WebSocketPair(on: fixture.test.group, capacity: .mebibytes(4))
            let handler = Restless(topics: fixture.topics, slow: .dropOldest(keeping: 5), closes: true)
            let pair = await WebSocketPair(on: fixture.test.group, capacity: .kibibytes(64), serverHandler: handler)
            await fixture.test.settle()
            try await quick.server.subscribe(to: fixture.topics["a"])
            for number in 0..<500 { fixture.topics["a"].publish(TopicFixture.long(number)) }
            for number in 0..<500 { #expect(try await quick.client.receive() == .text(TopicFixture.long(number))) }
            await #expect(throws: WebSocketError.self) { while true { _ = try await pair.client.receive() } }
            await fixture.test.settle()
            #expect(fixture.topics.subscriptionCount == 1)
        }
    }
}
