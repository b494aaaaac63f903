// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Topics by generated schedules", .timeLimit(minutes: 10))
struct TopicsTests {
    /// One client that comes, goes, comes back where it was, and is slow at times.
    private struct Client {
        var pair: WebSocketPair?
        var last = 0
        var position: TopicPosition?
        var isComplete = true
    }

    @Test("Whoever comes back where it was gets each message once, in order", arguments: 0..<20)
    func generated(_ seed: UInt64) async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 100_000, size: .mebibytes(64)))
        } _: { fixture in
            var random = SeededGenerator(seed: seed)
            let topic = fixture.topics["room/1"]
            var published = 0
            var clients = [Client](repeating: Client(), count: 4)
            topic.publish("0 ")
            let epoch = try #require(topic.position?.epoch)
            for _ in 0..<300 {
                let index = Int.random(in: 0..<clients.count, using: &random)
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    for _ in 0..<Int.random(in: 1...40, using: &random) {
                        published += 1
                        topic.publish(TopicFixture.long(published))
                    }
                case 5: await fixture.test.settle()
                case 6:
                    await clients[index].pair?.client.reset()
                    clients[index].pair = nil
                    await fixture.test.settle()
                default:
                    try await Self.join(&clients[index], topic, epoch, fixture)
                    let behind = published - clients[index].last
                    for _ in 0..<Int.random(in: 0...max(0, behind), using: &random) {
                        try await Self.take(&clients[index])
                    }
                }
            }
            for index in clients.indices {
                try await Self.join(&clients[index], topic, epoch, fixture)
                while clients[index].last < published { try await Self.take(&clients[index]) }
                await clients[index].pair?.client.reset()
            }
            await fixture.test.settle()
            #expect(fixture.topics.subscriptionCount == 0)
        }
    }

    private static func join(
        _ client: inout Client,
        _ topic: Topic,
        _ epoch: String,
        _ fixture: TopicFixture
    ) async throws {
        guard client.pair == nil else { return }
        let pair = await fixture.pair()
        client.pair = pair
        let position = TopicPosition(epoch: epoch, offset: UInt64(client.last + 1))
        let subscription = try await pair.server.subscribe(to: topic, slow: .wait, replay: .after(position))
        #expect(await subscription.isComplete)
    }

    private static func take(_ client: inout Client) async throws {
        guard let message = try await client.pair?.client.receive() else { return }
        client.last += 1
        #expect(TopicFixture.numbers([message.description]) == [client.last])
    }

    @Test("Publishers on several threads: each one's messages arrive in their order, everywhere")
    func order() async throws {
        let topics = Topics()
        let pairs = [await WebSocketPair(), await WebSocketPair(), await WebSocketPair()]
        for pair in pairs { try await pair.server.subscribe(to: topics["a"], slow: .end(after: .mebibytes(64))) }
        await withTaskGroup(of: Void.self) { group in
            for publisher in 0..<4 {
                group.addTask { for number in 0..<500 { topics["a"].publish("\(publisher) \(number)") } }
            }
        }
        for pair in pairs {
            var next = [0, 0, 0, 0]
            for _ in 0..<2_000 {
                let parts = try await pair.client.receive().description.split(separator: " ").compactMap { Int($0) }
                try #require(parts.count == 2)
                #expect(parts[1] == next[parts[0]])
                next[parts[0]] += 1
            }
            #expect(next == [500, 500, 500, 500])
            _ = await pair.client.close()
        }
    }
}
