// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

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
