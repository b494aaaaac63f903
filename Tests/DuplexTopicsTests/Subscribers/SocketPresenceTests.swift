// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A connection that is present, subscribed, and watches", .timeLimit(minutes: 10))
struct SocketPresenceTests {
    @Test("Subscriptions from before and behind are there as well, and its end ends it all")
    func together() async throws {
        try await TopicFixture.run {
            $0.presenceGrace = .zero
        } _: { fixture in
            let (topics, pair) = (fixture.topics, await fixture.pair())
            try await pair.server.subscribe(to: topics["a"])
            try await pair.server.enter(topics["a"], as: "ann")
            try await pair.server.subscribe(to: topics["b"])
            try await pair.server.enter(topics["b"], as: "ann")
            for name in ["a", "b"] { topics[name].publish(name) }
            #expect(try await TopicFixture.texts(pair.client, upTo: "b") == ["a", "b"])
            await pair.server.unsubscribe(from: topics["a"])
            #expect(topics.subscriptionCount == 1)
            await pair.client.reset()
            await fixture.test.settle()
            #expect(topics.subscriptionCount == 0 && topics.core.presence.counts == (0, 0, 0))
        }
    }

    @Test("A client that is behind gets its messages once it has room, and is closed when it misses who comes and goes")
    func behind() async throws {
        try await TopicFixture.run {
            $0.presenceGrace = .zero
        } _: { fixture in
            let (topics, pair) = (fixture.topics, await fixture.pair())
            let (core, room) = (topics.core, topics["a"])
            try await pair.server.watch(room, core)
            for number in 0..<400 {
                let info = String(repeating: "x", count: 1_000)
                try room.presence.enter(as: PresenceMember(id: "\(number)", info: info)).leave()
                await fixture.test.settle()
            }
            for number in 0..<400 {
                #expect(try await pair.client.receive().description.contains(#""joined":{"member":"\#(number)""#))
                #expect(try await pair.client.receive().description.contains(#""left":{"member":"\#(number)""#))
            }
            for number in 0..<2_000 {
                let info = String(repeating: "x", count: 1_000)
                try room.presence.enter(as: PresenceMember(id: "\(number)", info: info)).leave()
                await fixture.test.settle()
            }
            await #expect(throws: WebSocketError.self) { while true { _ = try await pair.client.receive() } }
            #expect(await pair.client.closeReport.received?.code == .tryAgainLater)
            #expect(core.presence.counts == (0, 0, 0))
        }
    }

    @Test("Topics of a connection are bounded")
    func bounded() async throws {
        try await TopicFixture.run {
            $0.subscriptionsPerConnectionLimit = 2
        } _: { fixture in
            let (topics, pair) = (fixture.topics, await fixture.pair())
            for name in ["a", "b", "a"] { try await pair.server.enter(topics[name], as: "ann") }
            await #expect(throws: TopicError.self) { try await pair.server.enter(topics["c"], as: "ann") }
            await pair.server.leave(topics["a"])
            try await pair.server.enter(topics["c"], as: "ann")
        }
    }
}

extension WebSocket {
    fileprivate func watch(_ topic: Topic, _ core: TopicCore) throws {
        try presence().watch(topic.name, core)
    }
}
