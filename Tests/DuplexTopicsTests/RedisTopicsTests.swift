// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

/// Topics of several nodes, joined by a real Redis.
@Suite("Topics that a Redis joins", .timeLimit(minutes: 3))
struct RedisTopicsTests {
    private static func options() throws -> TopicOptions {
        var options = TopicOptions()
        try options.keep("kept/#", .init(count: 100_000, size: .mebibytes(64)))
        options.historyTimeout = .limit(seconds: 120)
        return options
    }

    private static func topics(_ url: String) throws -> Topics {
        var redis = RedisOptions()
        redis.backoff = .constant(.milliseconds(5))
        redis.responseTimeout = .limit(seconds: 60)
        redis.whenDisconnected = .wait(commands: 100_000, bytes: .mebibytes(64), time: .seconds(120))
        return try Topics(.redis(url, prefix: "app", options: redis), options: try options())
    }

    @Test("Sockets, streams of code and patterns at several nodes get what is published at any, and say who is there")
    func joined() async throws {
        try await TestRedis.run { redis in
            let (one, two) = (try Self.topics(redis.url), try Self.topics(redis.url))
            let pair = await WebSocketPair()
            #expect(try await pair.server.subscribe(to: two["kept/a"], replay: .last(5)).isComplete)
            var patterns = one["kept/+"].makeAsyncIterator()
            let position = try await one["kept/a"].publish(confirming: .text("1"))
            #expect(position?.offset == 1)
            #expect(try await pair.client.receive() == "1")
            // A pattern has no history to wait for.
            while try await !redis.cli("PUBSUB", "NUMPAT").contains("1") {}
            two["kept/b"].publish("2")
            var texts: [String] = []
            while texts.last != "2" { texts.append(await patterns.next()?.text ?? "2") }
            #expect(texts == ["2"] || texts == ["1", "2"])
            var changes = one["kept/a"].presence.changes.makeAsyncIterator()
            while try await !redis.cli("PUBSUB", "CHANNELS").contains("kept/a}:presence") {}
            let entry = try two["kept/a"].presence.enter(as: PresenceMember(id: "ada", info: "{}"))
            #expect(try await changes.next() == .joined(PresenceMember(id: "ada", info: "{}")))
            #expect(try await one["kept/a"].presence.count == 1)
            withExtendedLifetime(entry) {}
            await pair.client.reset()
            await one.close()
            await two.close()
            await #expect(throws: TopicError.self) { try await one["kept/a"].publish(confirming: .text("x")) }
        }
    }

    /// A node that others reach by a network that fails, and clients that go from one to the other.
    @Test(
        "Whatever becomes of the connections to Redis, every client has every message once, in order",
        arguments: 0..<4
    )
    func cut(_ seed: UInt64) async throws {
        try await TestRedis.run { redis in
            let target = Endpoint.host("127.0.0.1", port: redis.port)
            try await FaultProxy.withProxy(to: target) { proxy in
                let nodes = [
                    try Self.topics("redis://\(proxy.endpoint.description)"), try Self.topics(redis.url),
                ]
                let first = try await nodes[1]["kept/a"].publish(confirming: .text("begin"))
                let position = try #require(first)
                let publishers = nodes.enumerated().map { index, topics in
                    Task {
                        for number in 1...400 {
                            try await topics["kept/a"].publish(confirming: .text("\(index) \(number)"))
                        }
                    }
                }
                let cutting = Task { try await Self.cutAtRandom(proxy, seed) }
                var readings: [Task<[String], any Error>] = []
                for node in 0..<2 {
                    readings.append(Task { try await Self.read(nodes, from: node, behind: position, count: 800) })
                }
                for publisher in publishers { try await publisher.value }
                try await cutting.value
                let read = [try await readings[0].value, try await readings[1].value]
                #expect(read[0] == read[1])
                for node in 0..<2 {
                    let numbers = read[0].filter { $0.hasPrefix("\(node) ") }
                    #expect(numbers == (1...400).map { "\(node) \($0)" })
                }
                for topics in nodes { await topics.close() }
            }
        }
    }

    private static func cutAtRandom(_ proxy: FaultProxy, _ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<6 {
            let resets = proxy.counters.resets
            let direction = Faults.Direction.allCases.randomElement(using: &random) ?? .toServer
            proxy.faults = .reset(after: Int.random(in: 1...6_000, using: &random), in: direction)
            try await proxy.wait { $0.resets > resets }
        }
        proxy.faults = .none
    }

    /// A client that comes back at another node behind what it has, again and again.
    private static func read(
        _ nodes: [Topics],
        from node: Int,
        behind position: TopicPosition,
        count: Int
    ) async throws -> [String] {
        var read: [String] = []
        var node = node
        while read.count < count {
            let pair = await WebSocketPair()
            let place = TopicPosition(epoch: position.epoch, offset: position.offset + UInt64(read.count))
            try await pair.server.subscribe(to: nodes[node]["kept/a"], slow: .wait, replay: .after(place))
            for _ in 0..<min(170, count - read.count) { read.append(try await pair.client.receive().description) }
            await pair.client.reset()
            node = 1 - node
        }
        return read
    }

    @Test("A second subscriber of a node is no command more, coming or leaving")
    func oneSubscription() async throws {
        try await TestRedis.run { redis in
            let topics = try Self.topics(redis.url)
            let pairs = [await WebSocketPair(), await WebSocketPair(), await WebSocketPair()]
            #expect(try await pairs[0].server.subscribe(to: topics["kept/a"]).isComplete)
            try await topics["kept/a"].publish(confirming: .text("1"))
            let commands = try await redis.monitored {
                for pair in pairs.dropFirst() {
                    let subscription = try await pair.server.subscribe(to: topics["kept/a"], replay: .last(1))
                    let isComplete = await subscription.isComplete
                    #expect(isComplete)
                    let message = try await pair.client.receive()
                    #expect(message == "1")
                }
                for pair in pairs.dropFirst() { await pair.server.unsubscribe(from: topics["kept/a"]) }
            }
            // That the node is still there it tells now and then.
            #expect(commands.filter { !$0.lowercased().contains("\"ping\"") } == [])
            for pair in pairs { await pair.client.reset() }
            await topics.close()
        }
    }

    @Test("A Redis that begins anew without its memory has other positions, and what is published since comes once")
    func forgets() async throws {
        try await TestRedis.run { redis in
            let topics = try Self.topics(redis.url)
            let pair = await WebSocketPair()
            #expect(try await pair.server.subscribe(to: topics["kept/a"], slow: .wait).isComplete)
            let before = try await topics["kept/a"].publish(confirming: .text("1"))
            #expect(try await pair.client.receive() == "1")
            await redis.kill()
            try await redis.start()
            let after = try await topics["kept/a"].publish(confirming: .text("2"))
            #expect(try await pair.client.receive() == "2")
            #expect(before?.epoch != after?.epoch)
            let behind = try #require(before)
            let other = await WebSocketPair()
            #expect(try await !other.server.subscribe(to: topics["kept/a"], replay: .after(behind)).isComplete)
            #expect(try await other.client.receive() == "2")
            for pair in [pair, other] { await pair.client.reset() }
            await topics.close()
        }
    }

    @Test("While Redis is away messages stay here where the app wants that, and else wait or fail")
    func away() async throws {
        try await TestRedis.run { redis in
            var redisOptions = RedisOptions()
            redisOptions.whenDisconnected = .fail
            redisOptions.backoff = .constant(.milliseconds(5))
            var options = try Self.options()
            options.whenDisconnected = .deliverHere
            let here = try Topics(.redis(redis.url, options: redisOptions), options: options)
            options.whenDisconnected = .waitOrFail
            let fails = try Topics(.redis(redis.url, options: redisOptions), options: options)
            for topics in [here, fails] { for await state in topics.states where state == .connected { break } }
            let pair = await WebSocketPair()
            #expect(try await pair.server.subscribe(to: here["kept/a"]).isComplete)
            await redis.kill()
            for topics in [here, fails] { for await state in topics.states where state != .connected { break } }
            #expect(here["kept/a"].publish("here") == .published(to: 1, nil))
            #expect(try await pair.client.receive() == "here")
            let error = await #expect(throws: TopicError.self) {
                try await fails["kept/a"].publish(confirming: .text("x"))
            }
            #expect(error?.code == .unavailable)
            await pair.client.reset()
            await here.close()
            await fails.close()
        }
    }
}
