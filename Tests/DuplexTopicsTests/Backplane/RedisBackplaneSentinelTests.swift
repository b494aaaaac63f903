// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Topics of several machines by a master that sentinels watch", .timeLimit(minutes: 5))
struct RedisBackplaneSentinelTests {
    @Test("A failover while messages are published: each comes once, in order, and nodes are present at the new master")
    func followsFailover() async throws {
        try await RedisSentinelsTests.run { _, replica, sentinel in
            let deployment = RedisDeployment.sentinel("redis://main/0", at: [try sentinel.address])
            let node = try RedisTestNode("node", deployment)
            try await node.subscribe(to: "a")
            node.backplane.enter(PresenceMember(id: "ann"), in: "a")
            #expect(try await node.publish(1...100, to: "a").compactMap(\.offset) == Array(1...100))
            let connection = try await sentinel.connect()
            let hasBegun = await comesTrue {
                (try? await connection.command("SENTINEL", "FAILOVER", "main")) == .simple("OK")
            }
            #expect(hasBegun)
            async let results = node.publish(101...1_000, to: "a")
            try await node.subscriptions.wait { $0 == ["+a", "-a", "+a"] }
            #expect(try await results.compactMap(\.offset).count == 900)
            // What the old master took at last may be lost with it: nobody had it yet. Then there is another epoch.
            let last = try await node.publish(1_001...1_010, to: "a").compactMap(\.offset)
            #expect(last.count == 10)
            let history = try await node.backplane.history(of: "a", behind: 0)
            let numbers = history.messages.map(\.number)
            #expect(numbers == numbers.sorted())
            #expect(Set(numbers).count == numbers.count)
            #expect(numbers.suffix(10) == Array(1_001...1_010)[...])
            #expect(history.position.offset == last.last)
            let isCounted = await comesTrue { (try? await node.backplane.memberCount(of: "a")) == 1 }
            #expect(isCounted)
            #expect(try await replica.cli("HLEN", "duplex:{a}:members") == "1")
            await connection.close()
            await node.backplane.close()
        }
    }
}
