// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Clients that are behind what is published", .timeLimit(minutes: 10))
struct SocketSubscriberTests {
    /// Publishes messages of 1 KiB, numbered from 0 on, to a client that doesn't receive and to one that does, and sees that
    /// the second one gets all of them.
    private static func publish(_ count: Int, to topic: Topic, _ fixture: TopicFixture) async throws {
        let quick = await fixture.pair()
        try await quick.server.subscribe(to: topic)
        for number in 0..<count {
            topic.publish(TopicFixture.long(number))
            #expect(try await quick.client.receive() == .text(TopicFixture.long(number)))
        }
        _ = await quick.client.close()
        await fixture.test.settle()
    }

    @Test("It waits by taking what it lacks from the history, and then gets what comes")
    func waits() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 1_000))
        } _: { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            let subscription = try await pair.server.subscribe(to: topic, slow: .wait)
            try await Self.publish(500, to: topic, fixture)
            topic.publish("end")
            let texts = try await TopicFixture.texts(pair.client, upTo: "end")
            #expect(TopicFixture.numbers(texts.dropLast()) == Array(0..<500))
            topic.publish("more")
            #expect(try await pair.client.receive() == .text("more"))
            #expect(await subscription.dropped == 0)
        }
    }

    @Test("One that waits is closed once what it lacks isn't kept any more")
    func waitsInVain() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 10))
        } _: { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            try await pair.server.subscribe(to: topic, slow: .wait)
            try await Self.publish(500, to: topic, fixture)
            let numbers = TopicFixture.numbers(try await Self.rest(pair.client))
            #expect(numbers == Array(0..<numbers.count) && numbers.count < 400)
            #expect(await pair.client.closeReport.received?.code == .tryAgainLater)
            #expect(fixture.topics.subscriptionCount == 0)
        }
    }

    /// What comes up to the end, whatever that is.
    private static func rest(_ client: WebSocket) async throws -> [String] {
        var texts: [String] = []
        do {
            while true { texts.append(try await client.receive().description) }
        } catch is WebSocketError {}
        return texts
    }

    @Test("The newest wait, and it is told how many were dropped")
    func dropsOldest() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            let subscription = try await pair.server.subscribe(
                to: topic,
                slow: .dropOldest(keeping: 5),
                missed: { .text("missed \($0)") }
            )
            try await Self.publish(500, to: topic, fixture)
            let texts = try await TopicFixture.texts(pair.client, upTo: TopicFixture.long(499))
            let notice = try #require(texts.firstIndex { $0.hasPrefix("missed") })
            #expect(TopicFixture.numbers(Array(texts[(notice + 1)...])) == [495, 496, 497, 498, 499])
            #expect(TopicFixture.numbers(Array(texts[..<notice])) == Array(0..<notice))
            #expect(texts[notice] == "missed \(500 - notice - 5)")
            #expect(await subscription.dropped == 500 - notice - 5)
        }
    }

    @Test("The oldest wait, and it is told behind them how many were dropped")
    func dropsNewest() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            try await pair.server.subscribe(
                to: topic,
                slow: .dropNewest(keeping: 5),
                missed: { .text("missed \($0)") }
            )
            try await Self.publish(500, to: topic, fixture)
            var texts: [String] = []
            while texts.last?.hasPrefix("missed") != true {
                texts.append(try await pair.client.receive().description)
            }
            let count = texts.count - 1
            #expect(TopicFixture.numbers(texts.dropLast()) == Array(0..<count))
            #expect(texts.last == "missed \(500 - count)")
            topic.publish("more")
            #expect(try await pair.client.receive() == .text("more"))
        }
    }

    private static let patient: [SlowReaderPolicy<TopicMessage>] = [
        .wait, .dropOldest(keeping: 500), .dropNewest(keeping: 500), .latest(by: { $0.text }),
        .end(after: .mebibytes(1)),
    ]

    /// A client that is behind by most of 500 messages.
    private static func withSlowClient(
        _ policy: SlowReaderPolicy<TopicMessage>,
        _ body: (TopicFixture, WebSocketPair) async throws -> Void
    ) async throws {
        try await TopicFixture.run { options in
            try options.keep("a", .init(count: 500))
        } _: { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            try await pair.server.subscribe(to: topic, slow: policy)
            try await Self.publish(500, to: topic, fixture)
            try await body(fixture, pair)
        }
    }

    @Test("A ping of a client that is behind is answered in front of what waits for it", arguments: 0..<patient.count)
    func ping(which: Int) async throws {
        try await Self.withSlowClient(Self.patient[which]) { fixture, pair in
            let answers = Told<Duration>()
            let client = pair.client
            let ping = Task { answers.add(try await client.ping()) }
            var count = 0
            while answers.all.isEmpty {
                _ = try await pair.client.receive()
                count += 1
                await fixture.test.settle()
            }
            #expect(count < 400)
            try await ping.value
            await pair.client.reset()
        }
    }

    @Test("A close of a client that is behind is answered without what waits for it", arguments: 0..<patient.count)
    func close(which: Int) async throws {
        try await Self.withSlowClient(Self.patient[which]) { fixture, pair in
            let report = await pair.client.close()
            #expect(report.isClean && report.received?.code == .normalClosure)
            await fixture.test.settle()
            #expect(fixture.topics.subscriptionCount == 0)
            // Another client got all 500.
            #expect(fixture.topics.counts.delivered < 900)
        }
    }

    @Test("Of each key the newest waits, in the order of their last change")
    func conflates() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            try await pair.server.subscribe(
                to: topic,
                slow: .latest(by: { String((Int($0.text.prefix { $0 != " " }) ?? 0) % 3) })
            )
            try await Self.publish(500, to: topic, fixture)
            let texts = try await TopicFixture.texts(pair.client, upTo: TopicFixture.long(499))
            #expect(TopicFixture.numbers(texts).suffix(3) == [497, 498, 499])
            #expect(texts.count < 200)
        }
    }

    @Test("It is closed once so much waits, with the code that was asked for")
    func endsByBytes() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            try await pair.server.subscribe(
                to: topic,
                slow: .end(after: .kibibytes(20)),
                closeCode: CloseCode(rawValue: 4_008)
            )
            try await Self.publish(500, to: topic, fixture)
            #expect(fixture.topics.subscriptionCount == 0)
            let numbers = TopicFixture.numbers(try await Self.rest(pair.client))
            #expect(numbers == Array(0..<numbers.count) && numbers.count < 400)
            #expect(await pair.client.closeReport.received?.code?.rawValue == 4_008)
        }
    }

    @Test("It is closed once something has waited for too long, and not before")
    func endsByTime() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            try await pair.server.subscribe(to: topic, slow: .end(after: .mebibytes(10), patience: .seconds(5)))
            try await Self.publish(500, to: topic, fixture)
            await fixture.test.advance(by: .seconds(4))
            #expect(fixture.topics.subscriptionCount == 1)
            await fixture.test.advance(by: .seconds(1))
            #expect(fixture.topics.subscriptionCount == 0)
        }
    }

    @Test("A client that reads isn't taken for a slow one by much in one turn")
    func bursts() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (
                fixture.topics["a"], await WebSocketPair(on: fixture.test.group, capacity: .mebibytes(4))
            )
            let subscription = try await pair.server.subscribe(to: topic, slow: .dropOldest(keeping: 5))
            fixture.test.loop.execute { _ in for number in 0..<1_500 { topic.publish(TopicFixture.long(number)) } }
            await fixture.test.settle()
            topic.publish("end")
            let texts = try await TopicFixture.texts(pair.client, upTo: "end")
            #expect(TopicFixture.numbers(texts.dropLast()) == Array(0..<1_500))
            #expect(await subscription.dropped == 0)
        }
    }

    @Test("One that asked for nothing of the past gets nothing of it when the loop was busy")
    func nothingOfThePast() async throws {
        try await TopicFixture.run { options in
            options.loopBacklog = .kibibytes(50)
            try options.keep("#", .init(count: 1_000))
        } _: { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            for number in 0..<50 { topic.publish(TopicFixture.long(number)) }
            let subscription = try await pair.server.subscribe(to: topic, slow: .wait)
            fixture.test.loop.execute { _ in for number in 50..<150 { topic.publish(TopicFixture.long(number)) } }
            await fixture.test.settle()
            topic.publish("end")
            let texts = try await TopicFixture.texts(pair.client, upTo: "end")
            #expect(TopicFixture.numbers(texts.dropLast()) == Array(50..<150))
            #expect(await subscription.dropped == 0)
        }
    }

    @Test("Behind a message that is sent in pieces it waits as behind anything else")
    func pieces() async throws {
        try await TopicFixture.run { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            let subscription = try await pair.server.subscribe(to: topic, slow: .dropOldest(keeping: 5))
            try await pair.server.send(.text) { writer in
                try await writer.write("begin ")
                for number in 0..<500 {
                    topic.publish(TopicFixture.long(number))
                    await fixture.test.settle()
                }
                try await writer.write("end")
            }
            #expect(try await pair.client.receive() == .text("begin end"))
            let numbers = TopicFixture.numbers(try await TopicFixture.texts(pair.client, upTo: TopicFixture.long(499)))
            #expect(numbers.suffix(5) == [495, 496, 497, 498, 499] && numbers.count <= 7)
            #expect(await subscription.dropped == 500 - numbers.count)
        }
    }

    @Test(
        "A loop that was busy loses what is beyond its bound: told, or taken from the history",
        arguments: [true, false]
    )
    func overrun(_ isKept: Bool) async throws {
        try await TopicFixture.run { options in
            options.loopBacklog = .kibibytes(50)
            if isKept { try options.keep("#", .init(count: 1_000)) }
        } _: { fixture in
            let (topic, pair) = (fixture.topics["a"], await fixture.pair())
            let missed = { @Sendable (count: Int) -> Message? in .text("missed \(count)") }
            let slow = SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 1_000)
            let subscription = try await pair.server.subscribe(to: topic, slow: slow, missed: missed)
            fixture.test.loop.execute { _ in
                // The loop has no turn as long as this runs.
                for number in 0..<100 { topic.publish(TopicFixture.long(number)) }
            }
            await fixture.test.settle()
            topic.publish("end")
            var texts = try await TopicFixture.texts(pair.client, upTo: "end").dropLast()
            if !isKept { #expect(texts.first == "missed \(100 - texts.count + 1)") }
            texts = texts.drop { $0.hasPrefix("missed") }
            let numbers = TopicFixture.numbers(Array(texts))
            #expect(numbers == Array((100 - numbers.count)..<100))
            #expect(await subscription.dropped == 100 - numbers.count)
            #expect(isKept == (numbers.count == 100))
        }
    }
}

@Suite("Several subscriptions of one connection", .timeLimit(minutes: 10))
struct SocketSubscriberFollowingTests {
    @Test("Those that are behind have their turns, whichever came last")
    func fair() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 1_000))
        } _: { fixture in
            let pair = await fixture.pair()
            let names = ["a", "b", "c"]
            for name in names { try await pair.server.subscribe(to: fixture.topics[name], slow: .wait) }
            for number in 0..<400 {
                for name in names { fixture.topics[name].publish("\(name) " + TopicFixture.long(number)) }
            }
            await fixture.test.settle()
            var counts: [String: Int] = [:]
            var ahead = 0
            for _ in 0..<1_200 {
                let parts = try await pair.client.receive().description.split(separator: " ")
                try #require(parts.count == 3)
                let name = String(parts[0])
                #expect(Int(parts[1]) == counts[name, default: 0])
                counts[name, default: 0] += 1
                ahead = max(ahead, (counts.values.max() ?? 0) - (names.map { counts[$0] ?? 0 }.min() ?? 0))
            }
            #expect(counts == ["a": 400, "b": 400, "c": 400])
            #expect(ahead < 100, "None had to wait for all of another.")
        }
    }

    @Test("What waits for all of them together is bounded")
    func bounded() async throws {
        try await TopicFixture.run {
            $0.backlogOfConnection = .kibibytes(10)
        } _: { fixture in
            let pair = await fixture.pair()
            var subscriptions: [TopicSubscription] = []
            for name in 0..<50 {
                let slow = SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 5, size: .kibibytes(10))
                subscriptions.append(try await pair.server.subscribe(to: fixture.topics["\(name)"], slow: slow))
            }
            for number in 0..<20 {
                for name in 0..<50 { fixture.topics["\(name)"].publish(TopicFixture.long(number)) }
                await fixture.test.settle()
            }
            var dropped = 0
            for subscription in subscriptions { dropped += await subscription.dropped }
            // What was in buffers, and less than ten that waited.
            #expect(dropped > 500 && dropped == fixture.topics.counts.dropped)
            for _ in 0..<(1_000 - dropped) {
                #expect(TopicFixture.numbers([try await pair.client.receive().description]) != [-1])
            }
            fixture.topics["0"].publish("end")
            #expect(try await pair.client.receive() == "end")
        }
    }

    @Test(
        "A client that takes nothing of the past that it asked for is ended by its patience; one that takes some isn't"
    )
    func patience() async throws {
        try await TopicFixture.run {
            try $0.keep("#", .init(count: 1_000))
        } _: { fixture in
            let topic = fixture.topics["a"]
            for number in 0..<500 { topic.publish(TopicFixture.long(number)) }
            let (dead, slow) = (await fixture.pair(), await fixture.pair())
            for pair in [dead, slow] {
                try await pair.server.subscribe(to: topic, slow: .end(patience: .seconds(5)), replay: .last(1_000))
            }
            await fixture.test.advance(by: .seconds(4))
            #expect(topic.subscriptionCount == 2)
            var numbers: [Int] = []
            func take() async throws {
                for _ in 0..<100 {
                    numbers += TopicFixture.numbers([try await slow.client.receive().description])
                }
                await fixture.test.settle()
            }
            try await take()
            await fixture.test.advance(by: .seconds(1))
            #expect(topic.subscriptionCount == 1)
            await fixture.test.advance(by: .seconds(3))
            #expect(topic.subscriptionCount == 1)
            for _ in 0..<4 { try await take() }
            await fixture.test.advance(by: .seconds(6))
            #expect(numbers == Array(0..<500) && topic.subscriptionCount == 1)
            #expect(fixture.topics.counts.ended == 1)
        }
    }
}

@Suite("What waits for clients that are behind")
struct SocketBacklogTests {
    private static let now = Instant(nanoseconds: 1)

    /// 1,000 bytes, as they are counted.
    private static func entry(_ text: String) -> TopicEntry {
        TopicEntry("a", nil, .message(.text(text + String(repeating: "x", count: 840 - text.utf8.count))))
    }

    private static func keep(
        _ numbers: Range<Int>,
        in backlog: SocketBacklog,
        _ policy: SlowReaderPolicy<TopicMessage>
    ) -> [Bool] {
        numbers.map { backlog.keep(entry("\($0)"), policy, 5_000, at: now) }
    }

    private static func rest(_ backlog: SocketBacklog) -> [Int] {
        var numbers: [Int] = []
        while let entry = backlog.popFirst() {
            numbers.append(Int(entry.message.description.prefix { $0 != "x" }) ?? -1)
        }
        return numbers
    }

    @Test("All subscriptions of a connection share one bound, each by its policy")
    func shared() {
        let connection = SocketBacklog.Connection()
        let (oldest, newest) = (SocketBacklog(connection), SocketBacklog(connection))
        let (dropsOldest, dropsNewest) = (
            SlowReaderPolicy<TopicMessage>.dropOldest(keeping: 10, size: 4_000),
            SlowReaderPolicy<TopicMessage>.dropNewest(keeping: 10, size: 4_000)
        )
        let stays = [
            Self.keep(0..<2, in: newest, dropsNewest), Self.keep(2..<7, in: oldest, dropsOldest),
            Self.keep(7..<9, in: newest, dropsNewest), Self.keep(9..<10, in: oldest, dropsOldest),
        ]
        #expect(stays.allSatisfy { $0.allSatisfy { $0 } } && connection.size == 5_000)
        #expect(newest.dropped == 2 && oldest.dropped == 3)
        let third = SocketBacklog(connection)
        #expect(Self.keep(10..<11, in: third, dropsOldest) == [true] && third.dropped == 1 && !third.isWaiting)
        #expect(Self.keep(10..<11, in: third, .end()) == [true], "Its own policy says more.")
        #expect(Self.keep(11..<12, in: third, .end(after: 4_000)) == [false])
        #expect(Self.rest(newest) == [0, 1] && Self.rest(oldest) == [5, 6, 9] && Self.rest(third) == [10])
        #expect(connection.size == 0 && !newest.isWaiting)
    }

    @Test("What goes leaves its room to others")
    func leaves() {
        let connection = SocketBacklog.Connection()
        let (one, two) = (SocketBacklog(connection), SocketBacklog(connection))
        #expect(Self.keep(0..<5, in: one, .end(after: 5_000)) == [true, true, true, true, true])
        #expect(Self.keep(5..<6, in: two, .end(after: 5_000)) == [false])
        one.removeAll()
        #expect(Self.keep(6..<7, in: two, .end(after: 5_000)) == [true] && connection.size == 1_000)
    }

    @Test("A client that takes nothing of the past is looked at by its patience")
    func deadline() {
        let backlog = SocketBacklog(SocketBacklog.Connection())
        #expect(backlog.deadline(.seconds(5)) == nil)
        backlog.stalledSince = Self.now
        #expect(backlog.deadline(.seconds(5)) == Self.now.advanced(by: .seconds(5)))
        #expect(backlog.deadline(nil) == nil)
    }
}
