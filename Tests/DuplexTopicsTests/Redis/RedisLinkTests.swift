// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A link to Redis that comes back", .timeLimit(minutes: 1))
struct RedisLinkTests {
    /// Short waits, since real servers are waited for.
    private static var options: RedisOptions {
        var options = RedisOptions()
        options.backoff = .constant(.milliseconds(5))
        return options
    }

    // MARK: Coming back

    @Test("A server that is killed and started again is found again, and each state is told")
    func comesBack() async throws {
        try await TestRedis.run { redis in
            let link = RedisLink(to: try redis.address, options: Self.options, loop: EventLoopGroup.shared.next())
            let states = Told<String>()
            let stream = link.states
            let observer = Task { for await state in stream { states.add(state.kind) } }
            await link.start()
            try await states.wait { $0.last == "connected" }
            #expect(states.all == ["idle", "connecting", "connected"])
            await redis.kill()
            try await states.wait { $0.filter { $0 == "waiting" }.count >= 2 }
            #expect(states.all[3...4] == ["waiting", "connecting"])
            try await redis.start()
            try await states.wait { $0.last == "connected" }
            #expect(try await link.command("PING") == .simple("PONG"))
            await link.close()
            await observer.value
            #expect(states.all.last == "closed")
        }
    }

    @Test("A server that stalls is given up, and found again when it goes on")
    func givesUpStalledServers() async throws {
        try await TestRedis.run { redis in
            var options = Self.options
            options.responseTimeout = .milliseconds(100)
            options.connectOptions.timeout = .milliseconds(200)
            let link = try await redis.link(options)
            let states = Told<String>()
            let observer = Task { for await state in link.states { states.add(state.description) } }
            try await states.wait { $0.last?.hasPrefix("connected") == true }
            redis.pause()
            let error = await redisError { _ = try await link.command("GET", "a") }
            #expect(error?.code == .timedOut)
            try await states.wait { $0.contains { $0.contains("hasn't answered GET within 0.1 seconds") } }
            redis.resume()
            try await states.wait { $0.last?.hasPrefix("connected") == true }
            await link.close()
            await observer.value
        }
    }

    @Test("A link that is dropped closes its connection, and one that is closed stays so")
    func ends() async throws {
        try await TestRedis.run { redis in
            for closes in [true, false] {
                var link: RedisLink? = try await redis.link(Self.options)
                _ = try await link?.command("PING")
                #expect(try await redis.clients == 1)
                if closes { await link?.close() }
                if closes {
                    let error = await redisError { _ = try await link?.command("PING") }
                    #expect(error?.code == .closed)
                    await link?.start()
                }
                link = nil
                let isGone = await comesTrue { (try? await redis.clients) == 0 }
                #expect(isGone)
            }
        }
    }

    // MARK: While it is away

    @Test("Commands wait for a server that isn't there yet, and are run in their order")
    func waitsForServer() async throws {
        try await TestRedis.run { redis in
            await redis.kill()
            let link = try await redis.link(Self.options)
            let told = Told<Int64?>()
            await link.append(["a", "b", "c"], into: told)
            let waiting = Task { try await link.command("STRLEN", "list") }
            let cancelled = Task { try await link.command("DEL", "list") }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            #expect(told.all.isEmpty)
            try await redis.start()
            #expect(try await waiting.value == .integer(3))
            #expect(told.all == [1, 2, 3])
            await link.close()
        }
    }

    @Test("They wait so long, so many, or not at all")
    func boundsWaiting() async throws {
        let port = try ReservedPort()
        let url = try RedisURL("redis://127.0.0.1:\(port.address.port)")
        try await TestLoop.run { loop in
            var options = RedisOptions()
            options.whenDisconnected = .wait(commands: 2, bytes: .kibibytes(1), time: .seconds(3))
            let link = RedisLink(to: url, options: options, loop: loop.loop)
            await link.start()
            let told = Told<Int64?>()
            let codes = Told<RedisError.Code>()
            await link.append(["a", "b", "c"], into: told, errors: codes)
            #expect(codes.all == [.unavailable])
            await loop.advance(by: .milliseconds(2_900))
            #expect(codes.all.count == 1)
            await loop.advance(by: .milliseconds(200))
            #expect(codes.all == [.unavailable, .unavailable, .unavailable])
            options.whenDisconnected = .fail
            let other = RedisLink(to: url, options: options, loop: loop.loop)
            await other.start()
            await other.append(["a"], into: told, errors: codes)
            #expect(codes.all.count == 4)
            #expect(told.all.isEmpty)
            await link.append(["a"], into: told, errors: codes)
            await link.close()
            #expect(codes.all.last == .closed)
            await other.close()
        }
    }

    // MARK: Subscribing

    @Test("Two local subscribers are one for the server, which hears when both have gone")
    func sharesSubscriptions() async throws {
        try await TestRedis.run { redis in
            let link = try await redis.link(Self.options)
            let (first, second) = (Told<String>(), Told<String>())
            let one = await link.listen("news", first)
            try await first.wait { $0 == ["active"] }
            let two = await link.listen("news", second)
            try await second.wait { $0 == ["active"] }
            #expect(try await redis.cli("PUBSUB", "NUMSUB", "news") == "news\n1")
            #expect(try await redis.cli("PUBLISH", "news", "hi") == "1")
            try await first.wait { $0.last == "hi" }
            try await second.wait { $0.last == "hi" }
            await link.unsubscribe(one)
            #expect(try await redis.cli("PUBLISH", "news", "again") == "1")
            try await second.wait { $0.last == "again" }
            #expect(first.all == ["active", "hi"])
            await link.unsubscribe(two)
            _ = try await link.command("PING")
            #expect(try await redis.cli("PUBSUB", "NUMSUB", "news") == "news\n0")
            await link.close()
        }
    }

    @Test("Subscriptions are made again on the next connection, and subscribers know of the gap")
    func resubscribes() async throws {
        try await TestRedis.run { redis in
            let link = try await redis.link(Self.options)
            let told = Told<String>()
            let others = Told<String>()
            _ = await link.listen("news", told)
            for number in 0..<300 { _ = await link.listen("channel-\(number)", others) }
            try await others.wait { $0.count == 300 }
            await redis.kill()
            try await told.wait { $0 == ["active", "interrupted"] }
            // One that comes while nobody is there.
            let late = Told<String>()
            _ = await link.listen("late", late)
            try await redis.start()
            try await told.wait { $0 == ["active", "interrupted", "active"] }
            try await late.wait { $0 == ["active"] }
            try await others.wait { $0.filter { $0 == "active" }.count == 600 }
            #expect(try await redis.cli("PUBLISH", "news", "hi") == "1")
            try await told.wait { $0.last == "hi" }
            await link.close()
        }
    }

    @Test("Messages and answers keep the order of the server; sharded channels are their own")
    func keepsOrder() async throws {
        try await TestRedis.run { redis in
            let link = try await redis.link(Self.options)
            let told = Told<String>()
            _ = await link.listen("news", told)
            _ = await link.listen("news", told, kind: .sharded)
            try await told.wait { $0.count == 2 }
            await link.publish(1_000, to: "news", into: told)
            try await told.wait { $0.count == 2_002 }
            #expect(told.all[2...].elementsEqual((0..<1_000).flatMap { ["\($0)", "answer"] }))
            _ = try await link.command("SPUBLISH", "news", "shard")
            try await told.wait { $0.last == "shard" }
            await link.close()
        }
    }

    @Test("A pattern gets what is published to channels that match it, with their names, also on the next connection")
    func subscribesToPatterns() async throws {
        try await TestRedis.run { redis in
            let link = try await redis.link(Self.options)
            let told = Told<String>()
            let id = await link.listen("a[12]*", told, kind: .pattern)
            try await told.wait { $0 == ["active"] }
            for channel in ["a1", "a3", "a2b"] { _ = try await redis.cli("PUBLISH", channel, "hi") }
            try await told.wait { $0 == ["active", "a1: hi", "a2b: hi"] }
            await redis.kill()
            try await told.wait { $0.last == "interrupted" }
            try await redis.start()
            try await told.wait { $0.last == "active" }
            #expect(try await redis.cli("PUBLISH", "a1", "again") == "1")
            try await told.wait { $0.last == "a1: again" }
            await link.unsubscribe(id)
            _ = try await link.command("PING")
            #expect(try await redis.cli("PUBSUB", "NUMPAT") == "0")
            await link.close()
        }
    }

    @Test("A channel that a user may not hear is refused, and nothing else is disturbed")
    func refusesChannels() async throws {
        let configuration = ["user default on nopass ~* resetchannels &app:* +@all"]
        try await TestRedis.run(.server, configuration) { redis in
            let link = try await redis.link(Self.options)
            let told = Told<String>()
            let other = Told<String>()
            _ = await link.listen("secret", told)
            _ = await link.listen("app:1", other)
            try await other.wait { $0 == ["active"] }
            try await told.wait { $0 == ["NOPERM"] }
            #expect(try await link.command("PING") == .simple("PONG"))
            await link.close()
        }
    }
}

extension RedisLinkState {
    fileprivate var kind: String { description.split { " :,".contains($0) }.first.map { String($0) } ?? "" }
}

extension TestRedis {
    /// How many clients there are besides the one that asks.
    fileprivate var clients: Int {
        get async throws { try await cli("CLIENT", "LIST").split(separator: "\n").count - 1 }
    }
}

extension RedisLink {
    fileprivate func append(_ texts: [String], into told: Told<Int64?>, errors: Told<RedisError.Code>? = nil) {
        for text in texts {
            send(RedisCommand("APPEND", "list", .text(text))) { result in
                switch result {
                case .success(let value): told.add(value.integer)
                case .failure(let error): errors?.add(error.code)
                }
            }
        }
    }

    fileprivate func publish(_ count: Int, to name: String, into told: Told<String>) {
        for number in 0..<count {
            send(RedisCommand("PUBLISH", .text(name), .number(Int64(number)))) { _ in told.add("answer") }
        }
    }
}
