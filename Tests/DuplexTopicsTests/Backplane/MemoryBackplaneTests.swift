// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Nodes that a backplane joins", .timeLimit(minutes: 2))
struct MemoryBackplaneTests {
    /// Some nodes on one loop, whose time the test moves.
    private struct Nodes {
        let hub: MemoryHub
        let backplanes: [MemoryBackplane]
        let topics: [Topics]
        let test: TestLoop

        static func run(
            _ count: Int,
            _ change: (inout TopicOptions) throws -> Void = { _ in },
            _ body: (Nodes) async throws -> Void
        ) async throws {
            var options = TopicOptions()
            try change(&options)
            try await TestLoop.run { test in
                let hub = MemoryHub(clock: test.loop.clock)
                let backplanes = (0..<count).map { _ in MemoryBackplane(hub) }
                let topics = backplanes.map { Topics(options: options, clock: test.loop.clock, backplane: $0) }
                try await body(Nodes(hub: hub, backplanes: backplanes, topics: topics, test: test))
                for topics in topics { await topics.close() }
            }
        }

        func pair() async -> WebSocketPair { await WebSocketPair(on: test.group, capacity: .kibibytes(4)) }

        var kept: [String] { hub.history(of: "a", behind: 0).messages.map(\.message.description) }
    }

    @Test("What is published on one node reaches the subscribers of all, by names and by patterns")
    func reaches() async throws {
        try await Nodes.run(2) { nodes async throws in
            let (one, two) = (await nodes.pair(), await nodes.pair())
            try await one.server.subscribe(to: nodes.topics[0]["room/1"])
            try await two.server.subscribe(to: nodes.topics[1]["room/+"])
            let publication = nodes.topics[0]["room/1"].publish("hi")
            #expect(publication == .sent)
            for pair in [one, two] { #expect(try await pair.client.receive().description == "hi") }
            #expect(try await nodes.topics[1]["room/1"].publish(confirming: .text("ho")) == nil)
            for pair in [one, two] { #expect(try await pair.client.receive().description == "ho") }
            await one.client.reset()
            await two.client.reset()
            await nodes.test.settle()
            #expect(nodes.topics.map(\.count) == [0, 0])
        }
    }

    @Test("A client goes on at another node behind what it has, and one that comes first gets what is kept")
    func goesOn() async throws {
        try await Nodes.run(2) {
            try $0.keep("#")
        } _: { nodes async throws in
            for number in 1...5 { nodes.topics[0]["a"].publish("\(number)") }
            let pair = await nodes.pair()
            let last = try await pair.server.subscribe(to: nodes.topics[1]["a"], replay: .last(2))
            #expect(await last.isComplete)
            #expect(try await TopicFixture.texts(pair.client, upTo: "5") == ["4", "5"])
            let position = try #require(nodes.topics[1]["a"].position)
            #expect(position.offset == 5)
            let behind = TopicPosition(epoch: position.epoch, offset: 3)
            let other = await nodes.pair()
            let subscription = try await other.server.subscribe(to: nodes.topics[0]["a"], replay: .after(behind))
            nodes.topics[1]["a"].publish("6")
            #expect(await subscription.isComplete)
            #expect(try await TopicFixture.texts(other.client, upTo: "6") == ["4", "5", "6"])
            let unknown = TopicPosition(epoch: "else", offset: 1)
            let third = await nodes.pair()
            let lost = try await third.server.subscribe(to: nodes.topics[1]["a"], replay: .after(unknown))
            #expect(await !lost.isComplete)
            #expect(try await TopicFixture.texts(third.client, upTo: "6").count == 6)
        }
    }

    @Test("Code gets what is kept and what comes, each once", arguments: 1...20)
    func code(_ round: Int) async throws {
        try await Nodes.run(2) {
            try $0.keep("#")
        } _: { nodes async throws in
            for number in 1...50 { nodes.topics[0]["a"].publish("\(number)") }
            var messages = nodes.topics[1]["a"].messages(replay: .last(round)).makeAsyncIterator()
            for number in 51...60 { nodes.topics[number % 2]["a"].publish("\(number)") }
            var texts: [String] = []
            while texts.last != "60" { texts.append(try await messages.next()?.text ?? "60") }
            let first = try #require(texts.first.flatMap { Int($0) })
            #expect(first >= 51 - round && texts == (first...60).map { "\($0)" })
        }
    }

    @Test("A node that was cut off takes what it missed from the history, in order, and what waited is published")
    func cut() async throws {
        try await Nodes.run(2) {
            try $0.keep("#")
        } _: { nodes async throws in
            let pair = await nodes.pair()
            #expect(try await pair.server.subscribe(to: nodes.topics[1]["a"]).isComplete)
            nodes.topics[0]["a"].publish("1")
            nodes.backplanes[1].setAway(true)
            #expect(nodes.topics[1].state == .away(TopicError(.unavailable, "This node is cut off from the others.")))
            for number in 2...4 { nodes.topics[0]["a"].publish("\(number)") }
            nodes.topics[1]["a"].publish("5")
            nodes.backplanes[1].setAway(false)
            #expect(nodes.topics[1].state == .connected)
            #expect(try await TopicFixture.texts(pair.client, upTo: "5") == ["1", "2", "3", "4", "5"])
            #expect(nodes.kept == ["1", "2", "3", "4", "5"])
        }
    }

    @Test("While it is cut off a node publishes to its own, where the app wants that, and counts go on behind it")
    func here() async throws {
        try await Nodes.run(2) {
            try $0.keep("#")
            $0.whenDisconnected = .deliverHere
        } _: { nodes async throws in
            let pair = await nodes.pair()
            #expect(try await pair.server.subscribe(to: nodes.topics[1]["a"], slow: .wait).isComplete)
            nodes.topics[0]["a"].publish("1")
            nodes.backplanes[1].setAway(true)
            #expect(nodes.topics[1]["a"].publish("here") == .published(to: 1, nil))
            nodes.topics[0]["a"].publish("2")
            nodes.backplanes[1].setAway(false)
            #expect(nodes.topics[1]["a"].publish("3") == .sent)
            #expect(try await TopicFixture.texts(pair.client, upTo: "3") == ["1", "here", "2", "3"])
            #expect(nodes.kept == ["1", "2", "3"])
        }
    }

    @Test("Beyond what waits while it is cut off a publisher is told, and so it is once all is closed")
    func bounds() async throws {
        try await Nodes.run(1) { nodes async throws in
            let topic = nodes.topics[0]["a"]
            nodes.backplanes[0].setAway(true)
            for _ in 0..<MemoryBackplane.mostWaiting { topic.publish("x") }
            await #expect(throws: TopicError(.unavailable, "This node is cut off from the others.")) {
                try await topic.publish(confirming: .text("y"))
            }
            await nodes.topics[0].close()
            await #expect(throws: TopicError(.unavailable, "The backplane is closed.")) {
                try await topic.publish(confirming: .text("y"))
            }
            #expect(topic.publish("#") == .sent && nodes.topics[0]["#"].publish("y") != .sent)
        }
    }

    @Test("A history that doesn't come holds up a subscription for a time, and it begins without")
    func givesUp() async throws {
        try await Nodes.run(1) {
            try $0.keep("#")
            $0.historyTimeout = .milliseconds(20)
        } _: { nodes async throws in
            nodes.topics[0]["a"].publish("1")
            nodes.backplanes[0].setAway(true)
            let pair = await nodes.pair()
            let behind = TopicPosition(epoch: "m1", offset: 0)
            let subscription = try await pair.server.subscribe(to: nodes.topics[0]["a"], replay: .after(behind))
            #expect(await !subscription.isComplete)
            nodes.topics[0]["a"].publish("2")
            nodes.backplanes[0].setAway(false)
            #expect(try await TopicFixture.texts(pair.client, upTo: "2") == ["1", "2"])
        }
    }

    @Test("A connection that ends while it waits for the history leaves nothing behind")
    func leaves() async throws {
        try await Nodes.run(1) {
            try $0.keep("#")
        } _: { nodes async throws in
            nodes.backplanes[0].setAway(true)
            let pair = await nodes.pair()
            let subscription = try await pair.server.subscribe(to: nodes.topics[0]["a"], replay: .last(1))
            var messages: TopicMessages.AsyncIterator? = nodes.topics[0]["a"].messages(replay: .last(1))
                .makeAsyncIterator()
            #expect(nodes.topics[0].subscriptionCount == 2 && messages != nil)
            await pair.client.reset()
            #expect(await !subscription.isComplete)
            messages = nil
            await nodes.test.settle()
            #expect(nodes.topics[0].count == 0)
        }
    }

    @Test("Where the memory is lost what is published since comes, each once")
    func forgets() async throws {
        try await Nodes.run(2) {
            try $0.keep("#")
        } _: { nodes async throws in
            let pair = await nodes.pair()
            #expect(try await pair.server.subscribe(to: nodes.topics[1]["a"], slow: .wait).isComplete)
            for number in 1...3 { nodes.topics[0]["a"].publish("\(number)") }
            #expect(try await TopicFixture.texts(pair.client, upTo: "3").count == 3)
            nodes.backplanes[1].setAway(true)
            nodes.hub.forget()
            for number in 4...5 { nodes.topics[0]["a"].publish("\(number)") }
            nodes.backplanes[1].setAway(false)
            nodes.topics[0]["a"].publish("6")
            #expect(try await TopicFixture.texts(pair.client, upTo: "6") == ["4", "5", "6"])
        }
    }

    @Test("A client that was at a node that had got further waits until this one has what it lacks")
    func ahead() async throws {
        try await Nodes.run(2) {
            try $0.keep("#")
        } _: { nodes async throws in
            let pair = await nodes.pair()
            #expect(try await pair.server.subscribe(to: nodes.topics[1]["a"]).isComplete)
            nodes.backplanes[1].setAway(true)
            for number in 1...5 { nodes.topics[0]["a"].publish("\(number)") }
            let epoch = nodes.hub.history(of: "a", behind: 0).position.epoch
            let other = await nodes.pair()
            let place = TopicReplay.after(TopicPosition(epoch: epoch, offset: 4))
            let subscription = try await other.server.subscribe(to: nodes.topics[1]["a"], replay: place)
            nodes.backplanes[1].setAway(false)
            #expect(await subscription.isComplete)
            #expect(try await TopicFixture.texts(other.client, upTo: "5") == ["5"])
            #expect(try await TopicFixture.texts(pair.client, upTo: "5").count == 5)
        }
    }

    @Test("Room for more while a subscription waits for its history holds up nobody")
    func drains() async throws {
        try await Nodes.run(1) {
            try $0.keep("kept/#")
        } _: { nodes async throws in
            let topics = nodes.topics[0]
            let pair = await nodes.pair()
            try await pair.server.subscribe(to: topics["live"], slow: .dropOldest(keeping: 1_000))
            nodes.backplanes[0].setAway(true)
            let later = try await pair.server.subscribe(to: topics["kept/a"], replay: .last(1))
            nodes.backplanes[0].setAway(false)
            nodes.backplanes[0].setAway(true)
            try await pair.server.subscribe(to: topics["kept/b"], replay: .last(1))
            nodes.backplanes[0].setAway(false)
            for number in 1...300 { topics["live"].publish(TopicFixture.long(number)) }
            for number in 1...300 {
                #expect(try await pair.client.receive().description == TopicFixture.long(number))
            }
            #expect(await later.isComplete)
        }
    }

    @Test("What is published right behind subscribing comes, to code and to sockets")
    func news() async throws {
        try await Nodes.run(1) {
            try $0.keep("#")
        } _: { nodes async throws in
            let topic = nodes.topics[0]["a"]
            topic.publish("old")
            var messages = topic.messages().makeAsyncIterator()
            topic.publish("1")
            #expect(try await messages.next()?.text == "1")
            let pair = await nodes.pair()
            let other = nodes.topics[0]["b"]
            other.publish("old")
            try await pair.server.subscribe(to: other)
            other.publish("1")
            #expect(try await pair.client.receive() == "1")
        }
    }

    @Test("Who missed what isn't kept any more is told of it")
    func gap() async throws {
        try await Nodes.run(2) {
            try $0.keep("#", .init(count: 3))
        } _: { nodes async throws in
            let pair = await nodes.pair()
            let missed = { @Sendable (count: Int) in Message.text("missed \(count)") }
            let policy = SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 10)
            let topic = nodes.topics[1]["a"]
            #expect(try await pair.server.subscribe(to: topic, slow: policy, missed: missed).isComplete)
            var messages = topic.messages(slow: policy).makeAsyncIterator()
            topic.publish("0")
            #expect(try await pair.client.receive() == "0")
            #expect(try await messages.next()?.text == "0")
            nodes.backplanes[1].setAway(true)
            for number in 1...10 { nodes.topics[0]["a"].publish("\(number)") }
            nodes.backplanes[1].setAway(false)
            #expect(try await TopicFixture.texts(pair.client, upTo: "10") == ["missed 7", "8", "9", "10"])
            let next = try await messages.next()
            #expect(next?.text == "8" && next?.missed == 7)
        }
    }

    @Test("Topics that nobody holds go on as long as somebody uses them, and end then")
    func ownership() async throws {
        let hub = MemoryHub()
        let backplane = MemoryBackplane(hub)
        var topic: Topic? = try Topics(.custom { backplane })["a"]
        #expect(try await topic?.publish(confirming: .text("1")) == nil)
        #expect(topic?.publish("2") == .sent)
        weak let core = topic?.core
        #expect(core != nil)
        topic = nil
        #expect(core == nil)
    }

    // MARK: Generated

    private struct Client {
        var pair: WebSocketPair?
        var node = 0
        var texts: [String] = []
    }

    @Test("Clients that come and go at nodes that come and go get each message once, in order", arguments: 0..<20)
    func generated(_ seed: UInt64) async throws {
        try await Nodes.run(3) {
            try $0.keep("#", .init(count: 100_000, size: .mebibytes(64)))
            $0.historyTimeout = .seconds(60)
        } _: { nodes async throws in
            var random = SeededGenerator(seed: seed)
            var isAway = [false, false, false]
            var published = [0, 0, 0]
            var clients = [Client](repeating: Client(), count: 4)
            for _ in 0..<200 {
                let (index, node) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<3, using: &random))
                switch Int.random(in: 0..<12, using: &random) {
                case 0..<5:
                    for _ in 0..<Int.random(in: 1...20, using: &random) where !isAway[node] || published[node] < 900 {
                        published[node] += 1
                        nodes.topics[node]["a"].publish(
                            "\(node) \(published[node]) " + String(repeating: "x", count: 600)
                        )
                    }
                case 5: await nodes.test.settle()
                case 6:
                    await clients[index].pair?.client.reset()
                    clients[index].pair = nil
                case 7, 8:
                    isAway[node].toggle()
                    nodes.backplanes[node].setAway(isAway[node])
                default:
                    try await Self.join(&clients[index], node, nodes)
                    guard !isAway[clients[index].node] else { break }
                    let behind = nodes.kept.count - clients[index].texts.count
                    for _ in 0..<Int.random(in: 0...max(0, behind), using: &random) {
                        try await Self.take(&clients[index])
                    }
                }
            }
            for backplane in nodes.backplanes { backplane.setAway(false) }
            let kept = nodes.kept
            #expect(kept.count == published.reduce(0, +))
            for node in 0..<3 {
                let numbers = kept.filter { $0.hasPrefix("\(node) ") }.map { Int($0.split(separator: " ")[1]) }
                #expect(numbers == (0..<published[node]).map { $0 + 1 })
            }
            for index in clients.indices {
                try await Self.join(&clients[index], 0, nodes)
                while clients[index].texts.count < kept.count { try await Self.take(&clients[index]) }
                #expect(clients[index].texts == kept)
                await clients[index].pair?.client.reset()
            }
            await nodes.test.settle()
            #expect(nodes.topics.map(\.subscriptionCount) == [0, 0, 0])
        }
    }

    private static func join(_ client: inout Client, _ node: Int, _ nodes: Nodes) async throws {
        guard client.pair == nil else { return }
        let pair = await nodes.pair()
        (client.pair, client.node) = (pair, node)
        let epoch = nodes.hub.history(of: "a", behind: .max).position.epoch
        let position = TopicPosition(epoch: epoch, offset: UInt64(client.texts.count))
        try await pair.server.subscribe(to: nodes.topics[node]["a"], slow: .wait, replay: .after(position))
    }

    private static func take(_ client: inout Client) async throws {
        guard let message = try await client.pair?.client.receive() else { return }
        client.texts.append(message.description)
    }
}
