// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Publishing once, in order, over connections that are lost", .timeLimit(minutes: 5))
struct RedisPublisherTests {
    @Test(
        "Connections are lost behind any byte while 2,000 messages are published: each comes once, in order",
        arguments: [1, 2, 3]
    )
    func sendsAgain(seed: UInt64) async throws {
        try await TestRedis.run { redis in
            let target = Endpoint.host("127.0.0.1", port: redis.port)
            try await FaultProxy.withProxy(to: target) { proxy in
                let reader = try RedisTestNode("reader", redis)
                try await reader.subscribe(to: "a")
                let breaking = Task { try await Self.cut(proxy, seed) }
                let url = try RedisURL("redis://\(proxy.endpoint.description)")
                let writer = try RedisTestNode("writer", .one(url))
                let results = try await writer.publish(1...2_000, to: "a")
                breaking.cancel()
                #expect(results.compactMap(\.offset) == Array(1...2_000))
                try await reader.messages.wait { $0.count >= 2_000 }
                #expect(reader.messages.all.map(\.message.number) == Array(1...2_000))
                #expect(reader.messages.all.compactMap(\.message.position?.offset) == Array(1...2_000))
                #expect(proxy.counters.resets > 3)
                await writer.backplane.close()
                await reader.backplane.close()
            }
        }
    }

    /// Each connection is lost behind another number of bytes, in one direction or the other.
    private static func cut(_ proxy: FaultProxy, _ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        while true {
            let resets = proxy.counters.resets
            let direction = Faults.Direction.allCases.randomElement(using: &random) ?? .toServer
            proxy.faults = .reset(after: Int.random(in: 1_500...15_000, using: &random), in: direction)
            _ = try await proxy.wait { $0.resets > resets }
        }
    }

    @Test("So many wait for a server that is away, and so long; those beyond fail")
    func boundsWaiting() async throws {
        let port = try ReservedPort()
        try await TestLoop.run { loop in
            var options = RedisOptions()
            options.whenDisconnected = .wait(commands: 2, bytes: .kibibytes(16), time: .seconds(3))
            let url = try RedisURL("redis://127.0.0.1:\(port.address.port)")
            let backplane = try RedisBackplane(.one(url), options: options, loop: loop.loop)
            let told = Told<String>()
            for number in 1...3 as ClosedRange<UInt64> {
                let message = BackplaneMessage(topic: "a", message: "x", origin: "o", number: number)
                backplane.publish(message, keeping: .init()) { result in
                    if case .failure(let error) = result { told.add("\(number) \(error.code)") }
                }
            }
            try await told.wait { $0 == ["3 unavailable"] }
            await loop.advance(by: .milliseconds(2_900))
            #expect(told.all.count == 1)
            await loop.advance(by: .milliseconds(200))
            #expect(told.all == ["3 unavailable", "1 unavailable", "2 unavailable"])
            options.whenDisconnected = .fail
            let other = try RedisBackplane(.one(url), options: options, loop: loop.loop)
            let message = BackplaneMessage(topic: "a", message: "x", origin: "o", number: 1)
            other.publish(message, keeping: .init()) { _ in told.add("failed") }
            try await told.wait { $0.last == "failed" }
            await backplane.close()
            await other.close()
        }
    }

    @Test("More topics than are remembered have their own numbers, and each message comes once")
    func publishesToManyTopics() async throws {
        try await TestRedis.run { redis in
            let node = try RedisTestNode("node", redis)
            for number in 1...2 as ClosedRange<UInt64> {
                let told = Told<UInt64?>()
                for topic in 0..<6_000 {
                    let message = BackplaneMessage(topic: "t/\(topic)", message: "x", origin: "o", number: number)
                    node.backplane.publish(message, keeping: .init()) { told.add($0.offset) }
                }
                try await told.wait { $0.count == 6_000 }
                #expect(told.all.allSatisfy { $0 == number })
            }
            #expect(try await redis.cli("DBSIZE") == "12000")
            await node.backplane.close()
        }
    }

    @Test("A message that the server refuses fails alone, and those behind it come")
    func goesOnBehindFailures() async throws {
        try await TestRedis.run { redis in
            let node = try RedisTestNode("node", redis)
            try await node.subscribe(to: "a")
            #expect(try await node.publish(1...1, to: "a").compactMap(\.offset) == [1])
            // No memory is left: what writes is refused.
            _ = try await redis.cli("CONFIG", "SET", "maxmemory", "1")
            let failed = try await node.publish(2...4, to: "a")
            #expect(failed.allSatisfy { (try? $0.get()) == nil })
            _ = try await redis.cli("CONFIG", "SET", "maxmemory", "0")
            #expect(try await node.publish(5...7, to: "a").compactMap(\.offset) == [2, 3, 4])
            try await node.messages.wait { $0.count == 4 }
            #expect(node.messages.all.map(\.message.number) == [1, 5, 6, 7])
            await node.backplane.close()
        }
    }
}
