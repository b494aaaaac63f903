// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Redis, however its servers are arranged", .timeLimit(minutes: 1))
struct RedisClientTests {
    @Test("One server runs commands and carries messages")
    func usesOne() async throws {
        try await TestRedis.run { redis in
            let deployment = RedisDeployment.one(try redis.address)
            let client = try deployment.makeClient(RedisOptions(), on: EventLoopGroup.shared.next())
            await client.start()
            let told = Told<String>()
            let id = await client.listen("news", told)
            try await told.wait { $0 == ["active"] }
            let name = Array("news".utf8)
            #expect(try await client.run(client.publication([0x31], to: name), key: name) == .integer(1))
            try await told.wait { $0.last == "1" }
            await client.unsubscribe(id)
            let sent = Told<RedisValue?>()
            await client.send(client.publication([0x32], to: name), key: name) { sent.add(try? $0.get()) }
            try await sent.wait { $0 == [.integer(0)] }
            #expect(told.all == ["active", "1"])
            await client.close()
        }
    }

    @Test("A deployment that leads nowhere is refused")
    func refuses() {
        #expect(throws: TopicError.self) {
            try RedisDeployment.cluster([]).makeClient(RedisOptions(), on: EventLoopGroup.shared.next())
        }
    }
}

extension RedisClient {
    /// Subscribes to a channel, of the kind that messages are published to by default, and notes what is told in words.
    func listen(_ name: String, _ told: Told<String>, kind: RedisChannel.Kind? = nil) -> RedisSubscriptionID {
        subscribe(to: RedisChannel(kind ?? channelKind, name)) { event in
            switch event {
            case .active: told.add("active")
            case .message(let bytes): told.add(String(decoding: bytes, as: UTF8.self))
            case .matched(let bytes, let channel):
                told.add(String(decoding: channel + [0x3A, 0x20] + bytes, as: UTF8.self))
            case .interrupted: told.add("interrupted")
            case .refused(let error): told.add(error.kind?.rawValue ?? "\(error)")
            }
        }
    }
}

@Suite("Where a link to Redis stands")
struct RedisLinkStateTests {
    @Test("Each observer gets the present state and every change, up to the end")
    func observes() async {
        let states = ChangeBroadcast(RedisLinkState.idle)
        let early = states.observe()
        states.tell(.connecting(attempt: 1))
        let late = states.observe()
        states.tell(.connected("redis://me:secret@a"))
        states.tell(.closed)
        states.finish()
        let afterwards = states.observe()
        #expect(await early.texts == ["idle", "connecting, attempt 1", "connected to redis://a:6379/0", "closed"])
        #expect(await late.texts == ["connecting, attempt 1", "connected to redis://a:6379/0", "closed"])
        #expect(await afterwards.texts == ["closed"])
        #expect(states.last?.isConnected == false)
    }
}

extension AsyncStream where Element == RedisLinkState {
    fileprivate var texts: [String] {
        get async {
            var texts: [String] = []
            for await state in self { texts.append(state.description) }
            return texts
        }
    }
}
