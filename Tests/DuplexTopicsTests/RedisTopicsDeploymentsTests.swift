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

/// Topics of several nodes by each kind of deployment, whose servers come to harm.
@Suite("Topics by sentinels, by a cluster, and with TLS", .timeLimit(minutes: 3))
struct RedisTopicsDeploymentsTests {
    private static var redisOptions: RedisOptions {
        var redis = RedisOptions()
        redis.backoff = .constant(.milliseconds(5))
        redis.responseTimeout = .limit(seconds: 60)
        redis.whenDisconnected = .wait(commands: 100_000, bytes: .mebibytes(64), time: .seconds(120))
        return redis
    }

    private static func topics(_ deployment: RedisDeployment) throws -> Topics {
        try Topics(
            .custom { () throws(TopicError) in try RedisBackplane(deployment, prefix: "app", options: redisOptions) },
            options: try options()
        )
    }

    private static func options() throws -> TopicOptions {
        var options = TopicOptions()
        try options.keep("kept/#", .init(count: 100_000, size: .mebibytes(64)))
        options.historyTimeout = .limit(seconds: 120)
        return options
    }

    private static func publish(_ numbers: ClosedRange<Int>, to topic: Topic) async throws {
        for number in numbers { try await topic.publish(confirming: .text("\(number)")) }
    }

    /// What a client gets until a number comes.
    private static func read(_ pair: WebSocketPair, until last: Int) async throws -> [Int] {
        var numbers: [Int] = []
        while numbers.last != last { numbers.append(try #require(Int(try await pair.client.receive().description))) }
        return numbers
    }

    @Test("A master is killed: a client has all that the new one keeps, in order, and what is published since")
    func masterKilled() async throws {
        try await RedisSentinelsTests.run(patience: 300) { master, _, sentinel in
            let connection = try await sentinel.connect()
            let isKnown = await comesTrue {
                (try? await connection.command("INFO", "sentinel").text?.contains("slaves=1")) == true
            }
            #expect(isKnown)
            await connection.close()
            let deployment = RedisDeployment.sentinel("redis://main/0", at: [try sentinel.address])
            let (one, two) = (try Self.topics(deployment), try Self.topics(deployment))
            let pair = await WebSocketPair()
            #expect(try await pair.server.subscribe(to: two["kept/a"], slow: .wait).isComplete)
            try await Self.publish(1...100, to: one["kept/a"])
            await master.kill()
            try await Self.publish(101...200, to: one["kept/a"])
            let numbers = try await Self.read(pair, until: 200)
            // What the old master took at last may be lost with it, which nobody can help.
            #expect(numbers == Set(numbers).sorted())
            #expect(numbers.suffix(100) == Array(101...200)[...])
            let other = await WebSocketPair()
            #expect(try await other.server.subscribe(to: one["kept/a"], replay: .last(1_000)).isComplete)
            let kept = try await Self.read(other, until: 200)
            #expect(kept == numbers.filter { Set(kept).contains($0) })
            for pair in [pair, other] { await pair.client.reset() }
            await one.close()
            await two.close()
        }
    }

    @Test("A server of a cluster stalls until the others give it up: each topic has every message once, in order")
    func serverStalls() async throws {
        try await RedisClusterTests.run { servers in
            let deployment = RedisDeployment.cluster([try servers[1].address])
            let (one, two) = (try Self.topics(deployment), try Self.topics(deployment))
            let names = (0..<12).map { "kept/\($0)" }
            var pairs: [WebSocketPair] = []
            for name in names {
                let pair = await WebSocketPair()
                #expect(try await pair.server.subscribe(to: two[name], slow: .wait).isComplete)
                pairs.append(pair)
            }
            for name in names { try await Self.publish(1...20, to: one[name]) }
            servers[0].pause()
            let publishing = names.map { name in Task { try await Self.publish(21...40, to: one[name]) } }
            let isGivenUp = await comesTrue {
                (try? await servers[1].cli("CLUSTER", "INFO").contains("cluster_state:fail")) == true
            }
            #expect(isGivenUp)
            servers[0].resume()
            for task in publishing { try await task.value }
            for pair in pairs { #expect(try await Self.read(pair, until: 40) == Array(1...40)) }
            for pair in pairs { await pair.client.reset() }
            await one.close()
            await two.close()
        }
    }

    @Test("With TLS, as a user who may do no more than the app's own keys and channels")
    func secured() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["127.0.0.1"])
        let configuration = [
            "port 0", "tls-port PORT", "tls-cert-file FOLDER/cert.pem", "tls-key-file FOLDER/key.pem",
            "tls-auth-clients no", "user app on >hush ~app:* &app:* +@all -@dangerous -@admin",
        ]
        let files = ["cert.pem": identity.certificatesPEM, "key.pem": identity.keyPEM]
        try await TestRedis.run(.server, configuration, files: files) { redis in
            func topics(prefix: String) throws -> Topics {
                var options = Self.redisOptions
                options.connectOptions.tls.trust = .roots(identity.certificates)
                let url = "rediss://app:hush@127.0.0.1:\(redis.port)/0"
                return try Topics(.redis(url, prefix: prefix, options: options), options: try Self.options())
            }
            let (one, two) = (try topics(prefix: "app"), try topics(prefix: "app"))
            let pair = await WebSocketPair()
            #expect(try await pair.server.subscribe(to: two["kept/a"]).isComplete)
            try await Self.publish(1...20, to: one["kept/a"])
            #expect(try await Self.read(pair, until: 20) == Array(1...20))
            let entry = try two["kept/a"].presence.enter(as: PresenceMember(id: "ada", info: "{}"))
            let isThere = await comesTrue { (try? await one["kept/a"].presence.count) == 1 }
            #expect(isThere)
            withExtendedLifetime(entry) {}
            #expect(try await redis.cli("CLIENT", "LIST").contains("user=app"))
            // Another app's are none of its business.
            let other = try topics(prefix: "other")
            let error = await #expect(throws: TopicError.self) {
                try await other["kept/a"].publish(confirming: .text("x"))
            }
            #expect(error?.description.contains("NOPERM") == true, "\(String(describing: error))")
            await pair.client.reset()
            for topics in [one, two, other] { await topics.close() }
        }
    }
}
