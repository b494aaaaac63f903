// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Topics of several machines by one Redis", .timeLimit(minutes: 1))
struct RedisBackplaneTests {
    /// Two nodes at one server.
    private static func run(_ body: (RedisTestNode, RedisTestNode, TestRedis) async throws -> Void) async throws {
        try await TestRedis.run { redis in
            let (first, second) = (try RedisTestNode("first", redis), try RedisTestNode("second", redis))
            try await body(first, second, redis)
            await first.backplane.close()
            await second.backplane.close()
        }
    }

    // MARK: The log

    @Test("A Redis that is gone is logged once, and once when it is back; a wrong password too, and it isn't quoted")
    func logsOutages() async throws {
        try await TestRedis.run { redis in
            let log = RecordedLog()
            var options = RedisTestNode.options
            options.logger = log.logger
            let node = try RedisTestNode("first", redis, options: options)
            try await node.states.wait { $0.contains(.connected) }
            #expect(log.entries.isEmpty)
            await redis.kill()
            try await node.states.wait { $0.contains(.connecting(attempt: 5)) }
            #expect(log.entries.map(\.message) == ["Redis can't be used"])
            #expect(log.entries.first?.level == .error && log.entries.first?.metadata["error"]?.isEmpty == false)
            try await redis.start()
            _ = try await log.entry(of: "Redis can be used again")
            await node.backplane.close()
            #expect(log.entries.map(\.level) == [.error, .notice])
        }
        try await TestRedis.run(.server, ["requirepass right"]) { redis in
            let log = RecordedLog()
            var options = RedisTestNode.options
            options.logger = log.logger
            let url = try RedisURL("redis://:wrong-secret@127.0.0.1:\(redis.port)")
            let node = try RedisTestNode("first", .one(url), options: options)
            try await node.states.wait { $0.contains(.connecting(attempt: 4)) }
            let entry = try #require(log.entries.first)
            #expect(log.entries.count == 1 && entry.metadata["error"]?.contains("WRONGPASS") == true, "\(log.entries)")
            #expect(entry.metadata["error"]?.contains("wrong-secret") == false)
            await node.backplane.close()
        }
    }

    // MARK: Messages

    @Test("Two publishers at a time: offsets follow each other, and both nodes get all messages in their order")
    func numbersMessages() async throws {
        try await Self.run { first, second, _ in
            try await first.subscribe(to: "room/42")
            try await second.subscribe(to: "room/42")
            async let some = first.publish(1...500, to: "room/42")
            async let others = second.publish(1...500, to: "room/42")
            let offsets = try await (some + others).compactMap(\.offset)
            #expect(offsets.sorted() == Array(1...1_000))
            for node in [first, second] {
                try await node.messages.wait { $0.count == 1_000 }
                let messages = node.messages.all.map(\.message)
                #expect(messages.compactMap(\.position?.offset) == Array(1...1_000))
                #expect(Set(messages.compactMap(\.position?.epoch)).count == 1)
                for origin in ["first", "second"] {
                    #expect(messages.filter { $0.origin == origin }.map(\.number) == Array(1...500))
                }
            }
            let history = try await first.backplane.history(of: "room/42", behind: 990)
            #expect(history.messages == second.messages.all.suffix(10).map(\.message))
            #expect(history.position == history.messages.last?.position)
        }
    }

    @Test("Without a history a message has no position, and nothing is kept of it")
    func passesMessages() async throws {
        try await Self.run { first, second, redis in
            try await second.subscribe(to: "news")
            #expect(
                try await first.publish(1...3, to: "news", keeping: nil) == Array(repeating: .success(nil), count: 3)
            )
            try await second.messages.wait { $0.count == 3 }
            #expect(second.texts(by: "news") == ["1", "2", "3"])
            #expect(second.messages.all.allSatisfy { $0.message.position == nil && $0.message.origin == "first" })
            let bytes = BackplaneMessage(topic: "news", message: .binary([0, 255]), origin: "first", number: 4)
            first.backplane.publish(bytes, keeping: nil) { _ in }
            try await second.messages.wait { $0.last?.message == bytes }
            #expect(try await redis.cli("DBSIZE") == "0")
            second.backplane.unsubscribe(from: "news")
            let isGone = await comesTrue { (try? await redis.cli("PUBSUB", "CHANNELS", "*")) == "" }
            #expect(isGone)
        }
    }

    @Test(
        "A pattern gets what its topics get, whatever characters are in it, and nothing else; names in braces aren't mixed up"
    )
    func matchesPatterns() async throws {
        try await Self.run { first, second, _ in
            #expect(second.backplane.supportsPatterns)
            for pattern in ["a/+", "a/#", "#", "[x]*/?/+", "}/+"] { try await second.subscribe(to: pattern) }
            let topics = ["a", "a/b", "a/b/c", "[x]*/?/1", "x/y/1", "}/1", "a}:messages/b", "ab"]
            for (index, topic) in topics.enumerated() {
                _ = try await first.publish(1...1, to: topic, keeping: index % 2 == 0 ? nil : .init())
            }
            try await second.messages.wait { $0.filter { $0.subscription == "#" }.count == topics.count }
            func matched(_ pattern: String) -> [String] {
                second.messages.all.filter { $0.subscription == pattern }.map(\.message.topic)
            }
            #expect(matched("a/+") == ["a/b"])
            #expect(matched("a/#") == ["a", "a/b", "a/b/c"])
            #expect(matched("#") == topics)
            #expect(matched("[x]*/?/+") == ["[x]*/?/1"])
            #expect(matched("}/+") == ["}/1"])
        }
    }

    @Test("Apps with different prefixes don't see each other")
    func separatesApps() async throws {
        try await TestRedis.run { redis in
            let node = try RedisTestNode("node", redis)
            let other = try RedisTestNode("other", .one(try redis.address), prefix: "other")
            #expect(try await other.publish(1...1, to: "a").map(\.offset) == [1])
            #expect(try await node.backplane.history(of: "a", behind: 0).position.offset == 0)
            #expect(try await other.backplane.history(of: "a", behind: 0).messages.map(\.message) == ["1"])
            await other.backplane.close()
            await node.backplane.close()
        }
        #expect(throws: TopicError.self) { try RedisBackplane("redis://localhost", prefix: "a{b}") }
        #expect(throws: TopicError.self) { try RedisBackplane("http://localhost") }
        #expect(throws: TopicError.self) { try RedisBackplane(.cluster([])) }
    }

    // MARK: What is kept

    @Test("So many messages, so many bytes and none older are kept")
    func keepsInBounds() async throws {
        try await Self.run { first, second, redis in
            _ = try await first.publish(1...25, to: "count", keeping: .init(count: 10))
            var kept = try await second.backplane.history(of: "count", behind: 0)
            #expect(kept.messages.map(\.number) == Array(16...25))
            kept = try await second.backplane.history(of: "count", behind: 20)
            #expect(kept.messages.map(\.number) == Array(21...25))
            #expect(try await second.backplane.history(of: "count", behind: 25).messages.isEmpty)
            #expect(try await second.backplane.history(of: "count", behind: .max).position.offset == 25)

            _ = try await first.publish(1...50, to: "size", keeping: .init(size: .init(500)))
            kept = try await second.backplane.history(of: "size", behind: 0)
            #expect((3...20).contains(kept.messages.count))
            #expect(kept.messages.last?.number == 50)

            let brief = TopicOptions.History(time: .milliseconds(300))
            _ = try await first.publish(1...5, to: "time", keeping: brief)
            let isEmpty = await comesTrue {
                (try? await second.backplane.history(of: "time", behind: 0).messages.isEmpty) == true
            }
            #expect(isEmpty)
            _ = try await first.publish(6...6, to: "time", keeping: brief)
            #expect(try await redis.cli("XLEN", "duplex:{time}:log") == "1")
            #expect(try await second.backplane.history(of: "time", behind: 0).position.offset == 6)
            for key in try await redis.cli("KEYS", "*").split(separator: "\n") {
                let left = Int(try await redis.cli("PTTL", "\(key)")) ?? 0
                #expect(left > 0, "\(key)")
            }
        }
    }

    @Test("A server that has forgotten the scripts is told them again, and no order is lost")
    func tellsScriptsAgain() async throws {
        try await Self.run { first, second, redis in
            try await second.subscribe(to: "a")
            for round in 0..<5 as Range<UInt64> {
                _ = try await redis.cli("SCRIPT", "FLUSH")
                let results = try await first.publish(round * 100 + 1...round * 100 + 100, to: "a")
                #expect(results.compactMap(\.offset) == Array(round * 100 + 1...round * 100 + 100))
                _ = try await redis.cli("SCRIPT", "FLUSH")
                #expect(try await second.backplane.history(of: "a", behind: 0).position.offset == round * 100 + 100)
            }
            try await second.messages.wait { $0.count == 500 }
            #expect(second.messages.all.map(\.message.number) == Array(1...500))
        }
    }

    // MARK: Coming and going

    @Test("A server that is started again with what it had goes on with its numbers; one that has lost it begins anew")
    func comesBack() async throws {
        for keeps in [true, false] {
            let configuration = keeps ? ["appendonly yes", "appendfsync always"] : []
            try await TestRedis.run(.server, configuration) { redis in
                let node = try RedisTestNode("node", redis)
                try await node.subscribe(to: "a")
                _ = try await node.publish(1...10, to: "a")
                let before = try await node.backplane.history(of: "a", behind: 0)
                await redis.kill()
                try await node.subscriptions.wait { $0.last == "-a" }
                try await node.states.wait { if case .away? = $0.last { true } else { false } }
                async let results = node.publish(11...20, to: "a")
                try await redis.start()
                let offsets = try await results.compactMap(\.offset)
                try await node.subscriptions.wait { $0 == ["+a", "-a", "+a"] }
                let after = try await node.backplane.history(of: "a", behind: 0)
                #expect(offsets == Array(keeps ? 11...20 : 1...10))
                #expect((before.position.epoch == after.position.epoch) == keeps)
                #expect(after.messages.map(\.number) == Array(keeps ? 1...20 : 11...20))
                #expect(node.states.all.last == .connected)
                await node.backplane.close()
                #expect(node.states.all.last == .closed)
            }
        }
    }

    @Test("A backplane that is dropped closes its connection")
    func endsWhenDropped() async throws {
        try await TestRedis.run { redis in
            var node: RedisTestNode? = try RedisTestNode("node", redis)
            try await node?.subscribe(to: "a")
            weak let backplane = node?.backplane
            #expect(try await redis.cli("PUBSUB", "CHANNELS", "*") != "")
            node = nil
            #expect(backplane == nil)
            let isGone = await comesTrue { (try? await redis.cli("PUBSUB", "CHANNELS", "*")) == "" }
            #expect(isGone)
        }
    }

    @Test("Closing fails what is left, and everything from then on")
    func ends() async throws {
        let port = try ReservedPort()
        let node = try RedisTestNode("node", .one(try RedisURL("redis://127.0.0.1:\(port.address.port)")))
        async let kept = node.publish(1...3, to: "a")
        async let plain = node.publish(1...3, to: "b", keeping: nil)
        try await node.states.wait { if case .away? = $0.last { true } else { false } }
        await node.backplane.close()
        await node.backplane.close()
        for result in try await kept + plain {
            #expect(throws: TopicError.self) { try result.get() }
        }
        #expect(try await node.publish(4...4, to: "a").allSatisfy { (try? $0.get()) == nil })
        await #expect(throws: TopicError.self) { () async throws in
            _ = try await node.backplane.history(of: "a", behind: 0)
        }
    }
}
