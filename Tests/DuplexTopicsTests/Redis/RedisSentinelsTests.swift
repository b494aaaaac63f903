// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A master that sentinels watch", .timeLimit(minutes: 5))
struct RedisSentinelsTests {
    private static var options: RedisOptions {
        var options = RedisOptions()
        options.backoff = .constant(.milliseconds(20))
        return options
    }

    /// A master with a replica that has caught up, and a sentinel who knows both.
    ///
    /// - Parameters:
    ///   - patience: for how long the master may be silent before the sentinel takes it for gone, in milliseconds. By default
    ///     a master that stands still for a while isn't: tests have the sentinel follow another one by a command.
    ///   - body: the test.
    /// - Throws: what `body` throws, and when a server can't be started.
    static func run(
        patience: Int = 10_000,
        _ body: (_ master: TestRedis, _ replica: TestRedis, _ sentinel: TestRedis) async throws -> Void
    ) async throws {
        try await TestRedis.run { master in
            try await TestRedis.run(.server, ["replicaof 127.0.0.1 \(master.port)"]) { replica in
                let isReady = await comesTrue {
                    (try? await replica.cli("INFO", "replication").contains("master_link_status:up")) == true
                }
                #expect(isReady)
                let configuration = [
                    "sentinel monitor main 127.0.0.1 \(master.port) 1",
                    "sentinel down-after-milliseconds main \(patience)", "sentinel failover-timeout main 3000",
                ]
                try await TestRedis.run(.sentinel, configuration) { sentinel in
                    try await body(master, replica, sentinel)
                }
            }
        }
    }

    @Test("The sentinels are asked in turn, and a failover is followed with its subscriptions")
    func follows() async throws {
        let nobody = try ReservedPort()
        try await Self.run { master, replica, sentinel in
            let loop = EventLoopGroup.shared.next()
            let deployment = RedisDeployment.sentinel(
                "redis://main/0",
                at: [try RedisURL("redis://127.0.0.1:\(nobody.address.port)"), try sentinel.address]
            )
            let client = try deployment.makeClient(Self.options, on: loop)
            let states = Told<String>()
            let stream = client.states
            let observer = Task { for await state in stream { states.add(state.description) } }
            await client.start()
            try await states.wait { $0.last == "connected to redis://127.0.0.1:\(master.port)/0" }
            let told = Told<String>()
            _ = await client.listen("news", told)
            try await told.wait { $0 == ["active"] }
            // It is known once it is in the list of replicas.
            let connection = try await sentinel.connect()
            let hasBegun = await comesTrue {
                (try? await connection.command("SENTINEL", "FAILOVER", "main")) == .simple("OK")
            }
            #expect(hasBegun)
            try await states.wait { $0.last == "connected to redis://127.0.0.1:\(replica.port)/0" }
            try await told.wait { $0 == ["active", "interrupted", "active"] }
            let isWritten = try await client.run(RedisCommand("SET", "a", "b"), key: [0x61])
            #expect(isWritten == .simple("OK"))
            _ = try await client.run(
                client.publication(Array("hi".utf8), to: Array("news".utf8)),
                key: Array("news".utf8)
            )
            try await told.wait { $0.last == "hi" }
            await connection.close()
            await client.close()
            await observer.value
        }
    }

    @Test("A server that has become a replica is given up at the first refusal, and none is connected to as a master")
    func refusesReplicas() async throws {
        try await TestRedis.run { master in
            try await TestRedis.run { other in
                let link = RedisLink(
                    options: Self.options,
                    loop: EventLoopGroup.shared.next(),
                    needsMaster: true
                ) { _ in try master.address }
                let states = Told<String>()
                let stream = link.states
                let observer = Task { for await state in stream { states.add(state.description) } }
                await link.start()
                #expect(try await link.command("SET", "a", "b") == .simple("OK"))
                #expect(try await master.cli("REPLICAOF", "127.0.0.1", "\(other.port)") == "OK")
                let error = await redisError { _ = try await link.command("SET", "a", "c") }
                #expect(error?.kind == .readOnly)
                try await states.wait { $0.contains { $0.contains("READONLY") } }
                try await states.wait { $0.contains { $0.contains("is no master") || $0.contains("MASTERDOWN") } }
                #expect(try await master.cli("REPLICAOF", "NO", "ONE") == "OK")
                try await states.wait { $0.last?.hasPrefix("connected") == true }
                await link.close()
                await observer.value
            }
        }
    }

    @Test("A master that no sentinel knows is an error that names it")
    func findsNobody() async throws {
        try await TestRedis.run(.sentinel) { sentinel in
            let deployment = RedisDeployment.sentinel("redis://:topsecret@other", at: [try sentinel.address])
            let client = try deployment.makeClient(Self.options, on: EventLoopGroup.shared.next())
            let states = Told<String>()
            let stream = client.states
            let observer = Task { for await state in stream { states.add(state.description) } }
            await client.start()
            try await states.wait { $0.contains { $0.contains("No sentinel knows a master named “other”.") } }
            #expect(!states.all.contains { $0.contains("topsecret") })
            await client.close()
            await observer.value
        }
    }
}
