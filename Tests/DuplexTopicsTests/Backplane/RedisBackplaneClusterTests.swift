// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Topics of several machines by a cluster of Redis", .timeLimit(minutes: 5))
struct RedisBackplaneClusterTests {
    @Test("Topics lie in all nodes, keep their order while a slot moves and a server restarts, and have members")
    func works() async throws {
        try await RedisClusterTests.run { servers in
            let deployment = RedisDeployment.cluster([try servers[1].address])
            let first = try RedisTestNode("first", deployment)
            let second = try RedisTestNode("second", deployment)
            #expect(!first.backplane.supportsPatterns)
            try await Self.publishEverywhere(first, second, servers)
            try await Self.moveSlot(first, second, servers)
            try await Self.restart(first, second, servers)
            first.backplane.enter(PresenceMember(id: "ann"), in: "room")
            second.backplane.enter(PresenceMember(id: "ann"), in: "room")
            second.backplane.enter(PresenceMember(id: "bob"), in: "room")
            let isCounted = await comesTrue { (try? await first.backplane.memberCount(of: "room")) == 2 }
            #expect(isCounted)
            await first.backplane.close()
            await second.backplane.close()
        }
    }

    private static func publishEverywhere(
        _ first: RedisTestNode,
        _ second: RedisTestNode,
        _ servers: [TestRedis]
    ) async throws {
        for number in 0..<20 { try await second.subscribe(to: "topic/\(number)") }
        for number in 0..<20 {
            async let some = first.publish(1...20, to: "topic/\(number)")
            async let others = second.publish(1...20, to: "topic/\(number)")
            #expect(try await (some + others).compactMap(\.offset).sorted() == Array(1...40))
        }
        try await second.messages.wait { $0.count == 800 }
        for number in 0..<20 {
            let messages = second.messages.all.filter { $0.subscription == "topic/\(number)" }.map(\.message)
            #expect(messages.compactMap(\.position?.offset) == Array(1...40))
        }
        for server in servers { #expect(try await server.cli("DBSIZE") != "0") }
        _ = try await first.publish(1...3, to: "topic/0", keeping: nil)
        try await second.messages.wait { $0.count == 803 }
    }

    /// A slot moves with all of its keys while messages are published.
    private static func moveSlot(_ first: RedisTestNode, _ second: RedisTestNode, _ servers: [TestRedis]) async throws {
        let topic = "mover"
        _ = try await first.publish(1...100, to: topic)
        let slot = RedisSlot.of("duplex:{\(topic)}:log")
        let (source, target) = (servers[slot / 5_462], servers[(slot / 5_462 + 1) % 3])
        async let results = first.publish(101...2_000, to: topic)
        async let others = second.publish(1...500, to: topic)
        let (from, to) = (try await source.cli("CLUSTER", "MYID"), try await target.cli("CLUSTER", "MYID"))
        _ = try await target.cli("CLUSTER", "BUMPEPOCH")
        _ = try await target.cli("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", from)
        _ = try await source.cli("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", to)
        for key in ["log", "meta"] {
            let name = "duplex:{\(topic)}:\(key)"
            #expect(try await source.cli("MIGRATE", "127.0.0.1", "\(target.port)", name, "0", "5000") == "OK")
        }
        for server in [target] + servers { _ = try await server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", to) }
        #expect(try await results.compactMap(\.offset).count == 1_900)
        #expect(try await others.compactMap(\.offset).count == 500)
        let history = try await second.backplane.history(of: topic, behind: 0)
        #expect(history.messages.compactMap(\.position?.offset) == Array(1...2_500))
        #expect(history.messages.filter { $0.origin == "first" }.map(\.number) == Array(1...2_000))
        #expect(history.messages.filter { $0.origin == "second" }.map(\.number) == Array(1...500))
    }

    /// A server is killed and started again without what it had.
    private static func restart(_ first: RedisTestNode, _ second: RedisTestNode, _ servers: [TestRedis]) async throws {
        let topic = "back"
        try await second.subscribe(to: topic)
        _ = try await first.publish(1...10, to: topic)
        let before = try await first.backplane.history(of: topic, behind: 0).position
        let server = servers[RedisSlot.of("duplex:{\(topic)}:log") / 5_462]
        await server.kill()
        // Among those of other topics of the server.
        try await second.subscriptions.wait { $0.contains("-" + topic) }
        async let results = first.publish(11...200, to: topic)
        try await server.start()
        #expect(try await results.compactMap(\.offset) == Array(1...190))
        try await second.subscriptions.wait { $0.filter { $0 == "+" + topic }.count == 2 }
        let history = try await second.backplane.history(of: topic, behind: 0)
        #expect(history.position.epoch != before.epoch)
        #expect(history.messages.map(\.number) == Array(11...200))
    }
}
