// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A cluster of Redis", .timeLimit(minutes: 5))
struct RedisClusterTests {
    private static var options: RedisOptions {
        var options = RedisOptions()
        options.backoff = .constant(.milliseconds(20))
        return options
    }

    /// Three masters with a third of the slots each.
    static func run(_ body: ([TestRedis]) async throws -> Void) async throws {
        let buses = try (0..<3).map { _ in try ReservedPort() }
        func configuration(_ index: Int) -> [String] {
            [
                "cluster-enabled yes", "cluster-port \(buses[index].address.port)", "cluster-node-timeout 5000",
                "cluster-announce-ip 127.0.0.1",
            ]
        }
        try await TestRedis.run(.server, configuration(0)) { first in
            try await TestRedis.run(.server, configuration(1)) { second in
                try await TestRedis.run(.server, configuration(2)) { third in
                    let nodes = [first, second, third]
                    let slots = [("0", "5460"), ("5461", "10922"), ("10923", "16383")]
                    for (index, node) in nodes.enumerated() {
                        _ = try await node.cli("CLUSTER", "ADDSLOTSRANGE", slots[index].0, slots[index].1)
                        _ = try await node.cli("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
                    }
                    for (index, node) in nodes.enumerated().dropFirst() {
                        let bus = "\(buses[index].address.port)"
                        _ = try await first.cli("CLUSTER", "MEET", "127.0.0.1", "\(node.port)", bus)
                    }
                    for node in nodes { await node.waitForCluster() }
                    try await body(nodes)
                }
            }
        }
    }

    @Test("Commands and subscriptions go to the node of the slot, and follow it when it moves")
    func follows() async throws {
        try await Self.run { nodes in
            let deployment = RedisDeployment.cluster([try nodes[2].address])
            let client = try deployment.makeClient(Self.options, on: EventLoopGroup.shared.next())
            await client.start()
            try await Self.compareSlots(with: nodes[0])
            try await Self.reachesEveryNode(client, nodes)
            try await Self.followsMovedSlot(client, nodes)
            try await Self.asksElsewhere(client, nodes)
            try await Self.comesBack(client, nodes)
            await client.close()
            let error = await redisError { _ = try await client.run(RedisCommand("GET", "a"), key: [0x61]) }
            #expect(error?.code == .closed)
        }
    }

    /// The slots of many keys are what the server says.
    private static func compareSlots(with node: TestRedis) async throws {
        let connection = try await node.connect()
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let alphabet = Array("ab{}{}é\0/".utf8)
            let key = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let answer = try await connection.command("CLUSTER", "KEYSLOT", .bytes(key))
            #expect(answer.integer == Int64(RedisSlot.of(key)), "\(key)")
        }
        await connection.close()
    }

    private static func reachesEveryNode(_ client: any RedisClient, _ nodes: [TestRedis]) async throws {
        let told = Told<String>()
        for number in 0..<30 {
            let name = "channel-\(number)"
            _ = await client.listen(name, told)
            let answer = try await client.run(RedisCommand("SET", .text(name), 1), key: Array(name.utf8))
            #expect(answer == .simple("OK"))
        }
        try await told.wait { $0.filter { $0 == "active" }.count == 30 }
        var keys = 0
        for node in nodes {
            let count = Int(try await node.cli("DBSIZE")) ?? 0
            #expect(count > 0)
            keys += count
        }
        #expect(keys == 30)
        for number in 0..<30 {
            let name = Array("channel-\(number)".utf8)
            let answer = try await client.run(client.publication(Array("hi \(number)".utf8), to: name), key: name)
            #expect(answer == .integer(1))
        }
        try await told.wait { $0.filter { $0.hasPrefix("hi") }.count == 30 }
    }

    /// A slot moves for good: MOVED, and the subscription is made anew.
    private static func followsMovedSlot(_ client: any RedisClient, _ nodes: [TestRedis]) async throws {
        let key = Array("mover".utf8)
        let slot = "\(RedisSlot.of(key))"
        let told = Told<String>()
        _ = await client.listen("mover", told)
        try await told.wait { $0 == ["active"] }
        let owner = RedisSlot.of(key) / 5_462
        let target = nodes[(owner + 1) % 3]
        let id = try await target.cli("CLUSTER", "MYID")
        // So that its claim counts for more than one of the old owner's that is still on its way.
        _ = try await target.cli("CLUSTER", "BUMPEPOCH")
        for node in [target] + nodes { _ = try await node.cli("CLUSTER", "SETSLOT", slot, "NODE", id) }
        // Until all nodes have heard of it they send clients to and fro.
        let isSet = await comesTrue {
            (try? await client.run(RedisCommand("SET", .bytes(key), 1), key: key)) == .simple("OK")
        }
        #expect(isSet)
        #expect(try await target.cli("GET", "mover") == "1")
        let isHeard = await comesTrue {
            let message = client.publication(Array("hi".utf8), to: key)
            return (try? await client.run(message, key: key)) == .integer(1)
        }
        #expect(isHeard)
        try await told.wait { $0.contains("hi") }
        #expect(told.all.prefix(3) == ["active", "interrupted", "active"])
    }

    /// A slot is on its way: ASK, for this command alone.
    private static func asksElsewhere(_ client: any RedisClient, _ nodes: [TestRedis]) async throws {
        let key = Array("asked".utf8)
        let slot = "\(RedisSlot.of(key))"
        let source = nodes[RedisSlot.of(key) / 5_462]
        let target = nodes[(RedisSlot.of(key) / 5_462 + 1) % 3]
        let sourceID = try await source.cli("CLUSTER", "MYID")
        _ = try await target.cli("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID)
        _ = try await source.cli("CLUSTER", "SETSLOT", slot, "MIGRATING", try await target.cli("CLUSTER", "MYID"))
        #expect(try await client.run(RedisCommand("SET", .bytes(key), 5), key: key) == .simple("OK"))
        #expect(try await target.cli("CLUSTER", "COUNTKEYSINSLOT", slot) == "1")
        #expect(try await source.cli("CLUSTER", "COUNTKEYSINSLOT", slot) == "0")
        #expect(try await client.run(RedisCommand("GET", .bytes(key)), key: key).integer == 5)
    }

    /// A node is killed and started again, with the slots that it had.
    private static func comesBack(_ client: any RedisClient, _ nodes: [TestRedis]) async throws {
        let key = Array("back".utf8)
        let node = nodes[RedisSlot.of(key) / 5_462]
        let told = Told<String>()
        _ = await client.listen("back", told)
        try await told.wait { $0 == ["active"] }
        await node.kill()
        try await told.wait { $0 == ["active", "interrupted"] }
        try await node.start()
        let isBack = await comesTrue {
            (try? await client.run(RedisCommand("SET", .bytes(key), 1), key: key)) == .simple("OK")
        }
        #expect(isBack)
        try await told.wait { $0.last == "active" }
        #expect(try await client.run(client.publication([0x31], to: key), key: key) == .integer(1))
        try await told.wait { $0.last == "1" }
    }

    @Test("A cluster that nobody of can be reached is waited for as long as the options say")
    func waits() async throws {
        let port = try ReservedPort()
        try await TestLoop.run { loop in
            var options = Self.options
            options.whenDisconnected = .wait(commands: 1, bytes: .kibibytes(1), time: .seconds(3))
            let cluster = RedisCluster(
                [try RedisURL("redis://127.0.0.1:\(port.address.port)")],
                options: options,
                loop: loop.loop
            )
            await cluster.start()
            let told = Told<RedisError.Code>()
            for _ in 0..<2 { await cluster.get("a", told) }
            #expect(told.all == [.unavailable])
            await loop.advance(by: .milliseconds(3_100))
            #expect(told.all == [.unavailable, .noNode])
            await cluster.get("a", told)
            await cluster.close()
            #expect(told.all.last == .closed)
        }
    }
}

extension RedisCluster {
    fileprivate func get(_ key: String, _ told: Told<RedisError.Code>) {
        send(RedisCommand("GET", .text(key)), key: Array(key.utf8)) { result in
            if case .failure(let error) = result { told.add(error.code) }
        }
    }
}

extension TestRedis {
    /// Waits until every node knows the others and who has which slot.
    fileprivate func waitForCluster() async {
        let isReady = await comesTrue {
            let information = try? await cli("CLUSTER", "INFO")
            return information?.contains("cluster_state:ok") == true
                && information?.contains("cluster_known_nodes:3") == true
                && information?.contains("cluster_slots_assigned:16384") == true
        }
        #expect(isReady)
    }
}

@Suite("Who has the slots of a cluster")
struct RedisTopologyTests {
    private static func range(_ first: Int64, _ last: Int64, _ host: RedisValue, _ port: Int64) -> RedisValue {
        let node = RedisValue.array([host, .integer(port), .bulk(Array("id".utf8)), .map([])])
        return .array([.integer(first), .integer(last), node, node])
    }

    private static func bulk(_ text: String) -> RedisValue { .bulk(Array(text.utf8)) }

    @Test("Each slot has the node that the answer gives it")
    func reads() throws {
        let answer = RedisValue.array([
            Self.range(0, 5_460, Self.bulk("10.0.0.1"), 7_000), Self.range(5_461, 10_922, Self.bulk(""), 7_001),
            Self.range(10_923, 16_383, .null, 7_002), Self.range(5, 5, Self.bulk("10.0.0.1"), 7_000),
        ])
        let topology = try #require(RedisTopology(answer, from: "asked"))
        #expect(topology.nodes.count == 3)
        #expect(topology.isComplete)
        #expect(topology.owner(of: 0) == RedisNode(host: "10.0.0.1", port: 7_000))
        // A node that doesn't know its name is the one that was asked.
        #expect(topology.owner(of: 5_461) == RedisNode(host: "asked", port: 7_001))
        #expect(topology.owner(of: 16_383) == RedisNode(host: "asked", port: 7_002))
    }

    @Test("Slots that nobody has are known as such, and go to who takes them")
    func assigns() throws {
        var topology = try #require(
            RedisTopology(.array([Self.range(0, 1, Self.bulk("a"), 1)]), from: "asked")
        )
        #expect(!topology.isComplete)
        #expect(topology.owner(of: 2) == nil)
        topology.assign(2, to: RedisNode(host: "b", port: 2))
        topology.assign(0, to: RedisNode(host: "b", port: 2))
        #expect(topology.owner(of: 2)?.host == "b")
        #expect(topology.owner(of: 0)?.host == "b")
        #expect(topology.owner(of: 1)?.host == "a")
        #expect(topology.nodes.count == 2)
        #expect(RedisTopology().owner(of: 0) == nil)
    }

    @Test("What makes no sense is none")
    func refuses() {
        let node = Self.bulk("a")
        let answers: [RedisValue] = [
            .null, .array([.null]), .array([.array([])]), .array([Self.range(-1, 1, node, 1)]),
            .array([Self.range(2, 1, node, 1)]), .array([Self.range(0, 16_384, node, 1)]),
            .array([Self.range(0, 1, node, 0)]), .array([.array([.integer(0), .integer(1), .array([node])])]),
        ]
        for answer in answers { #expect(RedisTopology(answer, from: "asked") == nil) }
        #expect(RedisTopology(.array([]), from: "asked")?.isComplete == false)
    }
}
