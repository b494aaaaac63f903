// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Logging
import ServiceLifecycle
import Testing

@testable import DuplexTopics

@Suite("A client of topics over a network that fails", .timeLimit(minutes: 10))
struct TopicClientTests {
    /// A server, a network in front of it, and what clients reach it by.
    private struct Scene: Sendable {
        let topics: Topics
        let proxy: FaultProxy

        func client(_ user: String = "ann", _ change: (inout TopicClientOptions) -> Void = { _ in }) -> TopicClient {
            var options = TopicClientOptions()
            options.policy = .constant(.milliseconds(1))
            // For a machine that is busy.
            options.requestTimeout = .limit(seconds: 120)
            change(&options)
            return TopicClient("ws://127.0.0.1:\(proxy.address.port)/topics/\(user)", options: options)
        }

        /// Loses all connections behind what `body` does meanwhile.
        func away(_ body: () async throws -> Void) async throws {
            await proxy.refuseConnections()
            await proxy.resetConnections()
            try await body()
            try await proxy.acceptConnections()
        }
    }

    private static func run(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        var options = TopicOptions()
        options.presenceGrace = .zero
        try options.keep("kept", .init(count: 10_000))
        try options.keep("short", .init(count: 3))
        let topics = Topics(options: options)
        try await withServer { server in
            server.topics("/topics/:user", of: topics) { request in
                request.parameters["user"] ?? ""
            } allowing: { access in
                access.topic != "secret"
            }
        } _: { address in
            try await FaultProxy.withProxy(to: .address(address)) { proxy in
                try await body(Scene(topics: topics, proxy: proxy))
            }
        }
    }

    private static func code(_ body: () async throws -> Void) async -> TopicError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? TopicError)?.code
        }
    }

    @Test("A server that sends requests back has answered none of them", .timeLimit(minutes: 1))
    func echo() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let client = TopicClient("ws://127.0.0.1:\(address.port)/")
            #expect(await Self.code { try await client.publish("hi", to: "a") }?.rawValue == "invalidResponse")
            #expect(await Self.code { try await client.enter("a") }?.rawValue == "invalidResponse")
            #expect(await Self.code { _ = try await client.presence(of: "a") }?.rawValue == "invalidResponse")
            #expect(await Self.code { for try await _ in client.subscribe(to: "a") {} }?.rawValue == "invalidResponse")
            #expect(
                await Self.code { for try await _ in client.presenceChanges(of: "a") {} }?.rawValue == "invalidResponse"
            )
            await client.close()
        }
    }

    @Test("It subscribes, publishes and is present, and what is refused is said")
    func talks() async throws {
        try await Self.run { scene async throws in
            let (ann, bob) = (scene.client("ann"), scene.client("bob"))
            var messages = ann.subscribe(to: "kept", replay: .last(5)).makeAsyncIterator()
            let position = try await bob.publish("hi", to: "kept")
            #expect(position == scene.topics["kept"].position)
            #expect(try await messages.next() == TopicMessage(topic: "kept", message: "hi", position: position))
            try await bob.publish(.binary([1, 2]), to: "kept")
            #expect(try await messages.next()?.message == .binary([1, 2]))
            var changes = ann.presenceChanges(of: "room").makeAsyncIterator()
            try await bob.enter("room", info: #"{"a":1}"#)
            let member = PresenceMember(id: "bob", info: #"{"a":1}"#)
            #expect(try await changes.next() == .joined(member))
            let presence = try await ann.presence(of: "room")
            #expect(presence == (1, [member]))
            try await bob.leave("room")
            #expect(try await changes.next() == .left(member))
            #expect(await Self.code { try await ann.publish("", to: "secret") } == .notAllowed)
            #expect(await Self.code { try await ann.enter("secret") } == .notAllowed)
            #expect(await Self.code { for try await _ in ann.subscribe(to: "secret") {} } == .notAllowed)
            #expect(await Self.code { for try await _ in ann.subscribe(to: "+") {} } == .limitReached)
            await ann.close()
            #expect(try await messages.next() == nil)
            #expect(try await changes.next() == nil)
            #expect(await Self.code { try await ann.publish("", to: "kept") } == .closed)
            await bob.close()
        }
    }

    @Test(
        "However often the connection is lost, behind whatever byte, each message that is kept comes once, in order",
        arguments: Faults.Direction.allCases
    )
    func resumes(direction: Faults.Direction) async throws {
        try await Self.run { scene async throws in
            let client = scene.client()
            var messages = client.subscribe(to: "kept").makeAsyncIterator()
            // Behind the answer to this the subscription holds.
            try await client.publish("0", to: "kept")
            var next = 0
            for count in stride(from: 1, to: 700, by: 41) {
                let resets = scene.proxy.counters.resets
                scene.proxy.faults = .reset(after: count, in: direction)
                let mending = Task {
                    try await scene.proxy.wait { $0.resets > resets }
                    scene.proxy.faults = .none
                }
                for number in 1...20 { scene.topics["kept"].publish("\(next + number)") }
                while scene.proxy.counters.resets == resets {
                    // Lost with the connection, or not.
                    _ = try? await client.publish("x", to: "other")
                }
                try await mending.value
                for number in next...next + 20 {
                    let message = try await messages.next()
                    #expect(message?.text == "\(number)" && message?.isAfterGap == false)
                }
                next += 21
                scene.topics["kept"].publish("\(next)")
            }
            #expect(try await messages.next()?.text == "\(next)")
            await client.close()
        }
    }

    @Test("What isn't kept any more, or never was, is told as a gap")
    func gaps() async throws {
        try await Self.run { scene async throws in
            let client = scene.client()
            var short = client.subscribe(to: "short").makeAsyncIterator()
            var plain = client.subscribe(to: "plain").makeAsyncIterator()
            for name in ["short", "plain"] { try await client.publish("first", to: name) }
            #expect(try await short.next()?.isAfterGap == false)
            #expect(try await plain.next()?.isAfterGap == false)
            try await scene.away { () async throws in
                for number in 1...10 { for name in ["short", "plain"] { scene.topics[name].publish("\(number)") } }
            }
            // Asked again, unlike a message, where the client finds out only now that its connection is lost.
            _ = try await client.presence(of: "plain")
            try await client.publish("last", to: "plain")
            let message = try await short.next()
            #expect(message?.text == "8" && message?.missed == 7 && message?.isAfterGap == true)
            #expect(try await short.next()?.isAfterGap == false)
            let last = try await plain.next()
            #expect(last?.text == "last" && last?.missed == 0 && last?.isAfterGap == true)
            await client.close()
        }
    }

    @Test("A message that nobody knows of whether it was published isn't sent again; what does no harm is")
    func unanswered() async throws {
        try await Self.run { scene async throws in
            let client = scene.client()
            try await client.publish("", to: "plain")
            scene.proxy.faults = .stall(after: 1, in: .toClient)
            var messages = scene.topics["plain"].messages().makeAsyncIterator()
            async let published = Self.code { try await client.publish("once", to: "plain") }
            async let presence = client.presence(of: "plain").count
            async let entered: Void = client.enter("plain")
            #expect(try await messages.next()?.text == "once")
            try await scene.proxy.wait { $0.stalled == 1 }
            await scene.proxy.resetConnections()
            scene.proxy.faults = .none
            #expect(await published == .unanswered)
            try await entered
            #expect(try await [0, 1].contains(presence))
            try await client.publish("twice", to: "plain")
            #expect(try await messages.next()?.text == "twice")
            await client.close()
        }
    }

    @Test("It is present again behind a lost connection, and who watches is told what has changed meanwhile")
    func presence() async throws {
        try await Self.run { scene async throws in
            let client = scene.client("ann")
            let room = scene.topics["room"].presence
            var seen = client.presenceChanges(of: "room").makeAsyncIterator()
            var changes = room.changes.makeAsyncIterator()
            let other = try room.enter(as: PresenceMember(id: "bob"))
            try await client.enter("room", info: "hi")
            let ann = PresenceMember(id: "ann", info: "hi")
            #expect(try await changes.next() == .joined(PresenceMember(id: "bob")))
            #expect(try await changes.next() == .joined(ann))
            let first = [try await seen.next(), try await seen.next()]
            #expect(Set(first) == [.joined(PresenceMember(id: "bob")), .joined(ann)])
            try await scene.away { () async throws in
                #expect(try await changes.next(isolation: #isolation) == .left(ann))
                other.leave()
                #expect(try await changes.next(isolation: #isolation) == .left(PresenceMember(id: "bob")))
            }
            #expect(try await changes.next() == .joined(ann))
            var told: [PresenceChange?] = []
            while told.last != .left(PresenceMember(id: "bob")) { told.append(try await seen.next()) }
            await client.close()
            #expect(try await changes.next() == .left(ann))
        }
    }

    @Test("Nothing waits for ever, and no more than was said waits")
    func bounds() async throws {
        try await Self.run { scene async throws in
            await scene.proxy.refuseConnections()
            let hasty = scene.client { $0.requestTimeout = .milliseconds(20) }
            #expect(await Self.code { try await hasty.publish("", to: "plain") } == .timedOut)
            let small = scene.client { $0.requestLimit = 1 }
            let first = Task { try await small.publish("", to: "plain") }
            while await small.requests.isEmpty { await Task.yield() }
            #expect(await Self.code { try await small.publish("", to: "plain") } == .limitReached)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(await small.requests.isEmpty)
            let short = scene.client { $0.requestSize = 10 }
            #expect(await Self.code { try await short.publish("", to: "plain") } == .limitReached)
            for client in [hasty, small, short] { await client.close() }
        }
    }

    @Test("A task that is slow misses the oldest, and is told how many")
    func slow() async throws {
        try await Self.run { scene async throws in
            let client = scene.client { $0.messageLimit = 2 }
            var messages = client.subscribe(to: "kept").makeAsyncIterator()
            for number in 1...5 { try await client.publish("\(number)", to: "kept") }
            // Its answer comes behind the messages, which went by way of the loop.
            while await client.subscriptions["kept"]?.position?.offset != 5 { await Task.yield() }
            let message = try await messages.next()
            #expect(message?.text == "4" && message?.missed == 3 && message?.isAfterGap == true)
            #expect(try await messages.next()?.missed == 0)
            await client.close()
        }
    }

    @Test("One that is dropped ends, and its subscriptions end when nobody iterates them")
    func dropped() async throws {
        try await Self.run { scene async throws in
            do {
                let client = scene.client()
                do {
                    var messages = client.subscribe(to: "kept").makeAsyncIterator()
                    try await client.publish("1", to: "kept")
                    #expect(try await messages.next()?.text == "1")
                }
                try await client.publish("2", to: "kept")
                #expect(scene.topics.subscriptionCount == 0)
            }
            try await scene.proxy.wait { $0.open == 0 }
        }
    }

    @Test("As a service it is connected until a graceful shutdown, and fails when the server refuses it for good")
    func service() async throws {
        try await Self.run { scene async throws in
            let client = scene.client()
            let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            let group = ServiceGroup(services: [client], logger: quiet)
            let running = Task { try await group.run() }
            try await client.publish("1", to: "kept")
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(await Self.code { try await client.publish("2", to: "kept") } == .closed)
            let refused = TopicClient("ws://127.0.0.1:\(scene.proxy.address.port)/nothing")
            #expect(await Self.code { try await refused.run() } == .unavailable)
        }
    }

    @Test("A server that refuses it for good ends it")
    func refused() async throws {
        try await Self.run { scene async throws in
            let client = TopicClient("ws://127.0.0.1:\(scene.proxy.address.port)/nothing")
            #expect(await Self.code { for try await _ in client.subscribe(to: "kept") {} } == .unavailable)
            #expect(await Self.code { try await client.publish("", to: "kept") } == .unavailable)
        }
    }
}

@Suite("How a client of topics waits and keeps")
struct TopicClientOptionsTests {
    @Test("Everything has a bound")
    func bounds() {
        let options = TopicClientOptions()
        #expect(options.requestTimeout == .seconds(10) && options.requestLimit == 1_000)
        #expect(options.requestSize == .mebibytes(16) && options.messageSize == .mebibytes(16))
        #expect(options.messageLimit == 1_000)
    }
}
