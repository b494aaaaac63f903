// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Every kind of subscriber by generated schedules", .timeLimit(minutes: 10))
struct TopicSchedulesTests {
    @Test("No gap, no double, in order, and what was dropped is exactly what is missing", arguments: 0..<12)
    func generated(_ seed: UInt64) async throws {
        var options = TopicOptions()
        options.loopBacklog = .kibibytes(50)
        let isTight = seed % 2 == 1
        if isTight { options.backlogOfConnection = .kibibytes(24) }
        try options.keep("k/+", .init(count: ScheduleModel.kept))
        try await TestLoop.run { test in
            let topics = Topics(options: options, clock: test.loop.clock)
            var server = WebServer(port: 0)
            server.events("/a", of: topics["a"], heartbeat: nil, slow: .dropOldest(keeping: 10))
            server.events("/k", of: topics["k/1"], heartbeat: nil, slow: .dropOldest(keeping: 10))
            try await server.test(within: .limit(seconds: 300)) { client async throws in
                client.capacity = .kibibytes(4)
                var schedule = Schedule(seed, topics, [test, client.loop], isTight: isTight)
                try await schedule.run(client)
            }
            #expect(topics.subscriptionCount == 0)
        }
    }

    @Test("Ten thousand topics, each with its subscribers and its messages")
    func many() async throws {
        try await TopicFixture.run { fixture in
            var pairs: [WebSocketPair] = []
            let slow = SlowReaderPolicy<TopicMessage>.end(after: .mebibytes(8))
            for index in 0..<40 {
                let pair = await WebSocketPair(on: fixture.test.group)
                try await Self.subscribe(pair.server, Self.part(index), fixture.topics, slow)
                pairs.append(pair)
            }
            #expect(fixture.topics.subscriptionCount == 20_000 && fixture.topics.count == 10_000)
            for number in 0..<10_000 { fixture.topics["t/\(number)"].publish("\(number)") }
            for (index, pair) in pairs.enumerated() {
                for number in Self.part(index) { #expect(try await pair.client.receive() == .text("\(number)")) }
                await pair.client.reset()
            }
            await fixture.test.settle()
            #expect(fixture.topics.count == 0 && fixture.topics.counts.delivered == 20_000)
        }
    }

    /// What one of 40 clients subscribes to: each topic is there twice.
    private static func part(_ index: Int) -> Range<Int> { index / 2 * 500..<(index / 2 + 1) * 500 }

    private static func subscribe(
        _ socket: isolated WebSocket,
        _ numbers: Range<Int>,
        _ topics: Topics,
        _ slow: SlowReaderPolicy<TopicMessage>
    ) throws {
        for number in numbers { try socket.subscribe(to: topics["t/\(number)"], slow: slow) }
    }
}

/// What is published, and what each subscriber is to have got of it: as simple as can be.
private struct ScheduleModel {
    static let names = ["a", "b", "k/1", "k/2"]
    /// How many messages of `k/1` and `k/2` are kept.
    static let kept = 60

    /// All messages that were ever published: where each one's number says.
    var topics: [String] = []
    /// Whether subscriptions of a connection take each other's room.
    var isTight = false
    /// Behind the last time that a loop was overrun, which may lose the newest message of a topic.
    var calm = 0

    static func matches(_ filter: String, _ topic: String) -> Bool {
        switch filter {
        case "#": true
        case "+": !topic.contains("/")
        case "k/+": topic.hasPrefix("k/")
        default: filter == topic
        }
    }

    /// The messages from a number on that a filter matches.
    func messages(_ filter: String, from first: Int) -> [Int] {
        (first..<max(first, topics.count)).filter { Self.matches(filter, topics[$0]) }
    }
}

/// A kind of policy, and what is to be seen of it.
private enum SchedulePolicy: Int, CaseIterable {
    case wait, oldest, newest, latest, end

    var policy: SlowReaderPolicy<TopicMessage> {
        switch self {
        case .wait: .wait
        case .oldest: .dropOldest(keeping: 10)
        case .newest: .dropNewest(keeping: 10)
        case .latest: .latest(by: { String((Schedule.number($0.text) ?? 0) % 7) })
        case .end: .end(after: .kibibytes(20))
        }
    }
}

/// One subscription of a socket.
private final class ScheduleSubscription {
    let filter: String
    let policy: SchedulePolicy
    /// The first message that it is to get.
    var first: Int
    var got: [Int] = []
    var told = 0
    var handle: TopicSubscription

    init(_ filter: String, _ policy: SchedulePolicy, _ first: Int, _ handle: TopicSubscription) {
        self.filter = filter
        self.policy = policy
        self.first = first
        self.handle = handle
    }

    /// Sees that what came is what was to come; after all that there is was taken.
    func check(_ model: ScheduleModel, isOpen: Bool) async {
        let expected = model.messages(filter, from: first)
        let dropped = await handle.dropped
        switch policy {
        case .wait, .end:
            #expect(got == Array(expected.prefix(got.count)) && dropped == 0)
            if isOpen { #expect(got.count == expected.count) }
        case .oldest, .newest, .latest:
            let all = Set(expected)
            #expect(got == got.sorted() && Set(got).count == got.count && got.allSatisfy { all.contains($0) })
            guard isOpen else { return }
            #expect(dropped == expected.count - got.count && told == dropped)
            guard policy == .oldest, !model.isTight, let last = expected.last, last >= model.calm else { return }
            #expect(got.last == last)
        }
    }
}

/// A client with one or two subscriptions.
private final class ScheduleClient {
    let pair: WebSocketPair
    let subscriptions: [ScheduleSubscription]
    var isOpen = true

    init(_ pair: WebSocketPair, _ subscriptions: [ScheduleSubscription]) {
        self.pair = pair
        self.subscriptions = subscriptions
    }

    /// Takes what there is, to its end.
    func takeAll(_ model: ScheduleModel) async throws {
        do {
            while try await lacks(model) { note(try await pair.client.receive().description) }
        } catch is WebSocketError {
            isOpen = false
        }
        for subscription in subscriptions { await subscription.check(model, isOpen: isOpen) }
    }

    private func lacks(_ model: ScheduleModel) async throws -> Bool {
        guard isOpen else { return false }
        for subscription in subscriptions {
            let dropped = await subscription.handle.dropped
            let count = model.messages(subscription.filter, from: subscription.first).count
            if subscription.got.count + dropped < count || subscription.told < dropped { return true }
        }
        return false
    }

    private func note(_ text: String) {
        let parts = text.split(separator: " ")
        for subscription in subscriptions {
            if parts[0] == "!" {
                if parts[1] == subscription.filter { subscription.told += Int(parts[2]) ?? 0 }
            } else if ScheduleModel.matches(subscription.filter, String(parts[0])) {
                subscription.got.append(Int(parts[1]) ?? -1)
            }
        }
    }
}

/// Runs one schedule.
private struct Schedule {
    private var random: SeededGenerator
    private let topics: Topics
    private let loops: [TestLoop]
    private var model = ScheduleModel()
    private var clients: [ScheduleClient] = []

    init(_ seed: UInt64, _ topics: Topics, _ loops: [TestLoop], isTight: Bool) {
        random = SeededGenerator(seed: seed)
        self.topics = topics
        self.loops = loops
        model.isTight = isTight
    }

    static func number(_ text: String) -> Int? { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    mutating func run(_ web: TestClient) async throws {
        let (a, k) = (try await web.events("/a"), try await web.events("/k"))
        while topics.subscriptionCount < 2 { await settle() }
        var iterator = topics["#"].messages(slow: .dropOldest(keeping: 50)).makeAsyncIterator()
        var heard: [Int] = []
        var missed = 0
        for _ in 0..<120 {
            try await step()
            if Int.random(in: 0..<10, using: &random) == 0 {
                while let last = model.topics.indices.last, heard.last != last {
                    guard let message = try await iterator.next() else { return }
                    missed += message.missed
                    heard.append(Self.number(message.text) ?? -1)
                    #expect(heard.count + missed == (heard.last ?? 0) + 1)
                }
            }
        }
        for client in clients {
            try await client.takeAll(model)
            await client.pair.client.reset()
        }
        var dropped = 0
        await publish(["a", "k/1"])
        for (stream, name) in [(a, "a"), (k, "k/1")] {
            let expected = model.messages(name, from: 0)
            let got = try await Self.numbers(stream, upTo: expected.last ?? 0)
            #expect(got == got.sorted() && Set(got).isSubset(of: expected) && Set(got).count == got.count)
            dropped += expected.count - got.count
            await stream.close()
        }
        await settle()
        // Streams aren't asked how many they lack, but all together are counted.
        for client in clients { for one in client.subscriptions { dropped += await one.handle.dropped } }
        #expect(topics.counts.dropped == dropped + missed + droppedBefore)
    }

    /// How much was published since the loops were last seen to have taken everything.
    private var unsettled = 0

    /// What subscriptions dropped that have gone.
    private var droppedBefore = 0

    private static func numbers(_ stream: TestEventStream, upTo last: Int) async throws -> [Int] {
        var numbers: [Int] = []
        while numbers.last != last, let data = try await stream.nextData() { numbers.append(number(data) ?? -1) }
        return numbers
    }

    private mutating func step() async throws {
        let client = clients.randomElement(using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<6: await publish((0..<Int.random(in: 1...30, using: &random)).map { _ in anyName() })
        case 6..<8: await settle()
        case 8: try await overrun()
        case 9..<12: if clients.count < 6 { try await join() }
        case 12: try await client?.takeAll(model)
        case 13: if let client { try await leave(client) }
        case 14: if let client { try await comeBack(client) }
        default: if let client { try await replace(client) }
        }
    }

    private mutating func anyName() -> String { ScheduleModel.names.randomElement(using: &random) ?? "a" }

    private mutating func settle() async {
        unsettled = 0
        for _ in 0..<2 { for loop in loops { await loop.settle() } }
    }

    /// Publishes to loops that have room for all of it, also where they have had no turn for a while.
    private mutating func publish(_ names: [String]) async {
        if unsettled + names.count > 40 { await settle() }
        unsettled += names.count
        for name in names {
            topics[name].publish("\(name) \(TopicFixture.long(model.topics.count))")
            model.topics.append(name)
        }
    }

    /// More is published than waits for a loop, while it has no turn.
    private mutating func overrun() async throws {
        let names = (0..<80).map { _ in anyName() }
        let (first, topics) = (model.topics.count, topics)
        let loop = loops[Int.random(in: 0..<loops.count, using: &random)].loop
        await withCheckedContinuation { continuation in
            loop.execute { _ in
                for (index, name) in names.enumerated() {
                    topics[name].publish("\(name) \(TopicFixture.long(first + index))")
                }
                continuation.resume()
            }
        }
        model.topics += names
        model.calm = model.topics.count
        await settle()
    }

    // MARK: Clients

    private mutating func join() async throws {
        let filters = [["a", "k/+"], ["b", "k/1"], ["#"], ["+", "k/2"], ["k/1", "k/2"]]
        let loop = loops[Int.random(in: 0..<loops.count, using: &random)]
        let pair = await WebSocketPair(on: loop.group, capacity: .kibibytes(4))
        var subscriptions: [ScheduleSubscription] = []
        for filter in filters.randomElement(using: &random) ?? [] {
            let policy = SchedulePolicy.allCases.randomElement(using: &random) ?? .wait
            let handle = try await subscribe(pair, filter, policy, .none)
            subscriptions.append(ScheduleSubscription(filter, policy, model.topics.count, handle))
        }
        clients.append(ScheduleClient(pair, subscriptions))
    }

    private func subscribe(
        _ pair: WebSocketPair,
        _ filter: String,
        _ policy: SchedulePolicy,
        _ replay: TopicReplay
    ) async throws -> TopicSubscription {
        let missed = { @Sendable (count: Int) -> Message? in .text("! \(filter) \(count)") }
        return try await pair.server.subscribe(
            to: topics[filter],
            slow: policy.policy,
            replay: replay,
            missed: missed
        )
    }

    private mutating func leave(_ client: ScheduleClient) async throws {
        if Bool.random(using: &random) {
            for subscription in client.subscriptions { subscription.handle.cancel() }
        }
        await settle()
        await client.pair.client.reset()
        await settle()
        for subscription in client.subscriptions {
            await subscription.check(model, isOpen: false)
            droppedBefore += await subscription.handle.dropped
        }
        clients.removeAll { $0 === client }
    }

    /// A client loses its connection, and comes back where it was.
    private mutating func comeBack(_ client: ScheduleClient) async throws {
        let kept = client.subscriptions.filter { ["k/1", "k/2"].contains($0.filter) && $0.policy == .wait }
        guard !kept.isEmpty else { return }
        try await leave(client)
        let pair = await WebSocketPair(on: loops[0].group, capacity: .kibibytes(4))
        var subscriptions: [ScheduleSubscription] = []
        for former in kept {
            guard let position = topics[former.filter].position else { continue }
            let all = model.messages(former.filter, from: 0)
            let seen = all.filter { $0 < former.first || $0 <= former.got.last ?? -1 }.count
            let place = TopicReplay.after(TopicPosition(epoch: position.epoch, offset: UInt64(seen)))
            let handle = try await subscribe(pair, former.filter, .wait, place)
            let begin = max(seen, all.count - ScheduleModel.kept)
            let isComplete = await handle.isComplete
            #expect(isComplete == (begin == seen))
            let first = begin < all.count ? all[begin] : model.topics.count
            subscriptions.append(ScheduleSubscription(former.filter, .wait, first, handle))
        }
        clients.append(ScheduleClient(pair, subscriptions))
    }

    /// A client that has got all there is subscribes again, with another policy.
    private mutating func replace(_ client: ScheduleClient) async throws {
        await settle()
        try await client.takeAll(model)
        guard client.isOpen else { return }
        for subscription in client.subscriptions { droppedBefore += await subscription.handle.dropped }
        var subscriptions: [ScheduleSubscription] = []
        for former in client.subscriptions {
            let policy = SchedulePolicy.allCases.randomElement(using: &random) ?? .wait
            let handle = try await subscribe(client.pair, former.filter, policy, .none)
            subscriptions.append(ScheduleSubscription(former.filter, policy, model.topics.count, handle))
        }
        clients.removeAll { $0 === client }
        clients.append(ScheduleClient(client.pair, subscriptions))
    }
}
