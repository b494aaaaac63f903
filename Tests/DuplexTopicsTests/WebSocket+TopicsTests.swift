// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("WebSockets that are subscribed", .timeLimit(minutes: 1))
struct WebSocketTopicsTests {
    @Test("Each gets what is published, texts as texts and bytes as bytes")
    func delivers() async throws {
        try await TopicFixture.run { fixture in
            let (one, two, other) = (await fixture.pair(), await fixture.pair(), await fixture.pair())
            let topic = fixture.topics["room/1"]
            try await one.server.subscribe(to: topic)
            try await two.server.subscribe(to: topic)
            try await other.server.subscribe(to: fixture.topics["room/2"])
            #expect(topic.publish("a") == .published(to: 2, nil))
            #expect(topic.publish([1, 2]) == .published(to: 2, nil))
            fixture.topics["room/2"].publish("z")
            for pair in [one, two] {
                #expect(try await pair.client.receive() == .text("a"))
                #expect(try await pair.client.receive() == .binary([1, 2]))
            }
            #expect(try await other.client.receive() == .text("z"))
        }
    }

    @Test("A pattern gets what is published to any topic that it matches")
    func patterns() async throws {
        try await TopicFixture.run { fixture in
            let (all, gold) = (await fixture.pair(), await fixture.pair())
            try await all.server.subscribe(to: fixture.topics["prices/#"])
            fixture.topics["prices/silver"].publish("1")
            try await gold.server.subscribe(to: fixture.topics["prices/gold"])
            fixture.topics["prices/gold"].publish("2")
            fixture.topics["other"].publish("3")
            fixture.topics["prices/gold/eur"].publish("4")
            #expect(try await TopicFixture.texts(all.client, upTo: "4") == ["1", "2", "4"])
            #expect(try await gold.client.receive() == .text("2"))
            #expect(fixture.topics["prices/#"].publish("x") != .published(to: 1, nil))
        }
    }

    @Test("It ends by itself, by its value, and with the connection, and nothing is left")
    func leaves() async throws {
        try await TopicFixture.run { fixture in
            let (one, two, three) = (await fixture.pair(), await fixture.pair(), await fixture.pair())
            let (topic, other) = (fixture.topics["a"], fixture.topics["a/+"])
            try await one.server.subscribe(to: topic)
            try await one.server.subscribe(to: other)
            let second = try await two.server.subscribe(to: topic)
            try await three.server.subscribe(to: topic)
            try await three.server.subscribe(to: other)
            #expect(fixture.topics.subscriptionCount == 5 && fixture.topics.count == 2)
            await one.server.unsubscribe(from: topic)
            await one.server.unsubscribe(from: topic)
            second.cancel()
            second.cancel()
            await fixture.test.settle()
            #expect(topic.subscriptionCount == 1 && other.subscriptionCount == 2)
            topic.publish("1")
            fixture.topics["a/b"].publish("2")
            #expect(try await one.client.receive() == .text("2"))
            #expect(try await TopicFixture.texts(three.client, upTo: "2") == ["1", "2"])
            await three.client.reset()
            _ = await one.client.close()
            await fixture.test.settle()
            #expect(fixture.topics.subscriptionCount == 0 && fixture.topics.count == 0)
            await #expect(throws: TopicError.self) { try await three.server.subscribe(to: topic) }
            #expect(fixture.topics.count == 0)
        }
    }

    @Test("A second subscription to a topic takes the place of the first")
    func replaces() async throws {
        try await TopicFixture.run { fixture in
            let pair = await fixture.pair()
            for _ in 0..<3 { try await pair.server.subscribe(to: fixture.topics["a"]) }
            #expect(fixture.topics.subscriptionCount == 1)
            fixture.topics["a"].publish("1")
            fixture.topics["a"].publish("2")
            #expect(try await TopicFixture.texts(pair.client, upTo: "2") == ["1", "2"])
        }
    }

    @Test("Names that aren't valid, and limits, are told")
    func limits() async throws {
        try await TopicFixture.run { options in
            options.subscriptionLimit = 3
            options.subscriptionsPerConnectionLimit = 2
        } _: { fixture in
            let (one, two) = (await fixture.pair(), await fixture.pair())
            func code(_ name: String, _ socket: WebSocket) async -> TopicError.Code? {
                do throws(TopicError) {
                    try await socket.subscribe(to: fixture.topics[name])
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(await code("a//b", one.server) == .invalidName)
            #expect(await code("a", one.server) == nil)
            #expect(await code("b", one.server) == nil)
            #expect(await code("c", one.server) == .limitReached)
            #expect(await code("c", two.server) == nil)
            #expect(await code("d", two.server) == .limitReached)
            #expect(fixture.topics.count == 3)
        }
    }

    @Test("Of the past it gets what it asks for, and then what comes")
    func replays() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 5))
        } _: { fixture in
            let topic = fixture.topics["a"]
            for number in 1...8 { topic.publish("\(number)") }
            let position = try #require(topic.position)
            #expect(position.offset == 8)
            func start(_ replay: TopicReplay) async throws -> (WebSocketPair, Bool) {
                let pair = await fixture.pair()
                return (pair, try await pair.server.subscribe(to: topic, replay: replay).isComplete)
            }
            let cases: [(TopicReplay, Bool, [Int])] = [
                (.none, true, [9]), (.last(1), true, [8, 9]), (.last(100), true, [4, 5, 6, 7, 8, 9]),
                (.after(TopicPosition(epoch: position.epoch, offset: 8)), true, [9]),
                (.after(TopicPosition(epoch: position.epoch, offset: 6)), true, [7, 8, 9]),
                (.after(TopicPosition(epoch: position.epoch, offset: 3)), true, [4, 5, 6, 7, 8, 9]),
                (.after(TopicPosition(epoch: position.epoch, offset: 2)), false, [4, 5, 6, 7, 8, 9]),
                (.after(TopicPosition(epoch: position.epoch, offset: 9)), false, [4, 5, 6, 7, 8, 9]),
                (.after(TopicPosition(epoch: "other", offset: 7)), false, [4, 5, 6, 7, 8, 9]),
            ]
            var started: [(WebSocketPair, Bool)] = []
            for (replay, _, _) in cases { started.append(try await start(replay)) }
            topic.publish("9")
            for ((pair, isComplete), (replay, expected, numbers)) in zip(started, cases) {
                #expect(isComplete == expected, "\(replay)")
                #expect(try await TopicFixture.texts(pair.client, upTo: "9").map { Int($0) } == numbers, "\(replay)")
            }
        }
    }

    @Test("A synchronous handler publishes what it has borrowed")
    func borrowed() async throws {
        struct Room: WebSocketHandler {
            let topic: Topic
            func opened(_ socket: isolated WebSocket) { _ = try? socket.subscribe(to: topic) }
            func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
                topic.publish(bytes, kind)
            }
        }
        try await TopicFixture.run { fixture in
            let handler = Room(topic: fixture.topics["a"])
            let one = await WebSocketPair(on: fixture.test.group, serverHandler: handler)
            let two = await WebSocketPair(on: fixture.test.group, serverHandler: handler)
            try await one.client.send("hi")
            try await two.client.send([7])
            for pair in [one, two] {
                #expect(
                    Set([try await pair.client.receive(), try await pair.client.receive()]) == [
                        .text("hi"), .binary([7]),
                    ]
                )
            }
        }
    }

    @Test("A handler that subscribes a connection that has ended hasn't failed")
    func late() async throws {
        let log = RecordedLog()
        try await TopicFixture.run { fixture in
            let pair = await fixture.pair()
            let topic = fixture.topics["a"]
            async let end: Void = pair.server.run(
                { socket in
                    do { while true { _ = try await socket.receive() } } catch { try socket.subscribe(to: topic) }
                },
                logger: log.logger
            )
            await pair.client.close()
            await end
        }
        #expect(log.entries.map(\.message) == ["a connection ended"] && log.entries.first?.level == .debug)
    }
}
