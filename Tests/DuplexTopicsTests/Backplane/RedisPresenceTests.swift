// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Who is present by several nodes at one Redis", .timeLimit(minutes: 5))
struct RedisPresenceTests {
    private static let ann = PresenceMember(id: "ann", info: "1")
    private static let bob = PresenceMember(id: "bob")

    /// Waits until a node sees so many.
    private static func expect(_ count: Int, by node: RedisTestNode, in topic: String = "room") async {
        let isSo = await comesTrue { (try? await node.backplane.memberCount(of: topic)) == count }
        #expect(isSo)
    }

    /// Watches a topic, and waits until Redis has confirmed it.
    private static func watch(_ node: RedisTestNode, _ redis: TestRedis) async throws {
        node.backplane.watchPresence(in: "room", true)
        let isThere = await comesTrue {
            (try? await redis.cli("PUBSUB", "NUMSUB", "duplex:{room}:presence"))?.hasSuffix("\n1") == true
        }
        #expect(isThere)
        // What it knows of those who are there follows on the same connection.
        _ = try await node.backplane.memberCount(of: "room")
    }

    /// Leases that run out soon.
    private static var brief: RedisOptions {
        var options = RedisTestNode.options
        options.presenceLease = .seconds(10)
        return options
    }

    @Test("Who is there by two nodes is one: told when they come by the first, go by the last, and say something else")
    func countsOnce() async throws {
        try await TestRedis.run { redis in
            let (first, second) = (try RedisTestNode("first", redis), try RedisTestNode("second", redis))
            let watcher = try RedisTestNode("watcher", redis)
            try await Self.watch(watcher, redis)
            first.backplane.enter(Self.ann, in: "room")
            try await watcher.presence.wait { $0 == [.joined(Self.ann)] }
            second.backplane.enter(Self.ann, in: "room")
            second.backplane.enter(Self.bob, in: "room")
            try await watcher.presence.wait { $0.count == 2 }
            #expect(try await first.backplane.memberCount(of: "room") == 2)
            let members = try await watcher.backplane.members(of: "room", limit: 10)
            #expect(Set(members) == [Self.ann, Self.bob])
            #expect(try await watcher.backplane.members(of: "room", limit: 1).count == 1)
            #expect(try await watcher.backplane.members(of: "room", limit: 0).isEmpty)
            first.backplane.leave("ann", in: "room")
            first.backplane.leave("nobody", in: "room")
            let changed = PresenceMember(id: "ann", info: "2")
            second.backplane.enter(changed, in: "room")
            second.backplane.leave("bob", in: "room")
            try await watcher.presence.wait { $0.contains(.left(Self.bob)) && $0.contains(.joined(changed)) }
            #expect(try await first.backplane.members(of: "room", limit: 10) == [changed])
            await second.backplane.close()
            try await watcher.presence.wait { $0.last == .left(changed) }
            #expect(watcher.presence.all.count == 5)
            #expect(try await redis.cli("KEYS", "*") == "")
            watcher.backplane.watchPresence(in: "room", false)
            let isGone = await comesTrue { (try? await redis.cli("PUBSUB", "CHANNELS", "*")) == "" }
            #expect(isGone)
            await first.backplane.close()
            await watcher.backplane.close()
        }
    }

    @Test("Members of a node that is gone without a word go with its lease, and come back with it")
    func leavesWithNode() async throws {
        try await TestRedis.run { redis in
            let target = Endpoint.host("127.0.0.1", port: redis.port)
            try await FaultProxy.withProxy(to: target) { proxy in
                let url = try RedisURL("redis://\(proxy.endpoint.description)")
                let lost = try RedisTestNode("lost", .one(url), options: Self.brief)
                let watcher = try RedisTestNode("watcher", redis, options: Self.brief)
                try await Self.watch(watcher, redis)
                lost.backplane.enter(Self.ann, in: "room")
                watcher.backplane.enter(Self.bob, in: "room")
                try await watcher.presence.wait { $0.count == 2 }
                await proxy.refuseConnections()
                await proxy.resetConnections()
                try await watcher.presence.wait { $0.last == .left(Self.ann) }
                #expect(try await watcher.backplane.members(of: "room", limit: 9) == [Self.bob])
                try await proxy.acceptConnections()
                try await watcher.presence.wait { $0.last == .joined(Self.ann) }
                #expect(watcher.presence.all.count == 4)
                await lost.backplane.close()
                await watcher.backplane.close()
            }
        }
    }

    @Test("A server that has lost its memory is told all members again")
    func entersAgain() async throws {
        try await TestRedis.run { redis in
            let node = try RedisTestNode("node", redis)
            for id in 0..<1_200 { node.backplane.enter(PresenceMember(id: "\(id)"), in: "room") }
            await Self.expect(1_200, by: node)
            await redis.kill()
            node.backplane.leave("0", in: "room")
            node.backplane.enter(Self.ann, in: "room")
            node.backplane.leave("1", in: "room")
            try await redis.start()
            await Self.expect(1_199, by: node)
            let members = try await node.backplane.members(of: "room", limit: 2_000)
            #expect(Set(members.map(\.id)) == Set((2..<1_200).map { "\($0)" } + ["ann"]))
            await node.backplane.close()
        }
    }

    @Test("Who watches hears behind an interruption who has come and gone meanwhile")
    func comparesBehindInterruption() async throws {
        try await TestRedis.run { redis in
            let target = Endpoint.host("127.0.0.1", port: redis.port)
            try await FaultProxy.withProxy(to: target) { proxy in
                let node = try RedisTestNode("node", redis)
                node.backplane.enter(Self.ann, in: "room")
                await Self.expect(1, by: node)
                let url = try RedisURL("redis://\(proxy.endpoint.description)")
                let watcher = try RedisTestNode("watcher", .one(url))
                try await Self.watch(watcher, redis)
                await proxy.refuseConnections()
                await proxy.resetConnections()
                node.backplane.leave("ann", in: "room")
                node.backplane.enter(Self.bob, in: "room")
                let isChanged = await comesTrue {
                    (try? await node.backplane.members(of: "room", limit: 9)) == [Self.bob]
                }
                #expect(isChanged)
                try await proxy.acceptConnections()
                try await watcher.presence.wait { $0 == [.left(Self.ann), .joined(Self.bob)] }
                await watcher.backplane.close()
                await node.backplane.close()
            }
        }
    }

    @Test("100,000 members are entered, counted and removed")
    func countsMany() async throws {
        try await TestRedis.run { redis in
            let node = try RedisTestNode("node", redis)
            for id in 0..<100_000 { node.backplane.enter(PresenceMember(id: "\(id)"), in: "room") }
            await Self.expect(100_000, by: node)
            #expect(try await node.backplane.members(of: "room", limit: 10).count == 10)
            #expect(Set(try await node.backplane.members(of: "room", limit: .max).map(\.id)).count == 100_000)
            await node.backplane.close()
            // Whoever looks next removes the rest, which the lease has left.
            let other = try RedisTestNode("other", redis)
            #expect(try await other.backplane.memberCount(of: "room") == 0)
            #expect(try await redis.cli("KEYS", "*") == "")
            await other.backplane.close()
        }
    }
}
