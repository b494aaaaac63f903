// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Synchronization
import Testing

@testable import DuplexWebSockets

@Suite struct WebSocketExtrasTests {
    @Test("An idle connection has none, and one that pings, watches or closes has", .timeLimit(minutes: 1))
    func onDemand() async throws {
        try await withPair { client, server in
            #expect(await server.hasNoExtras)
            try await client.send("hello")
            _ = try await server.receive()
            #expect(await server.hasNoExtras)
            _ = try await server.ping()
            #expect(await server.hasNoExtras == false)
            #expect(await server.nobodyWaits)
            await client.close()
        }
    }
}

extension WebSocket {
    fileprivate var hasNoExtras: Bool { extras == nil }
    fileprivate var nobodyWaits: Bool { pings.isEmpty && closers.isEmpty && latencyWatchers.isEmpty }
}

@Suite(.timeLimit(minutes: 1)) struct ControlInboxTests {
    @Test("What comes is due once the messages before it were taken, and comes in its order")
    func order() {
        let inbox = ControlInbox()
        inbox.append(.ping([1]), behind: 0)
        inbox.append(.pong([2], roundTrip: nil), behind: 1)
        #expect(inbox.isDue)
        #expect(inbox.takeFirst() == .ping([1]))
        #expect(!inbox.isDue)
        inbox.taken += 1
        #expect(inbox.isDue)
        #expect(inbox.takeFirst() == .pong([2], roundTrip: nil))
        #expect(!inbox.isDue && inbox.takeFirst() == nil)
    }

    @Test("What waits is bounded: the oldest makes way")
    func bounded() {
        let inbox = ControlInbox()
        for number in 0..<UInt8(100) { inbox.append(.ping([number]), behind: 0) }
        for number in 36..<UInt8(100) { #expect(inbox.takeFirst() == .ping([number])) }
        #expect(inbox.takeFirst() == nil)
        inbox.append(.ping([]), behind: 0)
        inbox.drop()
        #expect(inbox.takeFirst() == nil)
    }

    @Test("A pong answers its ping and those before it, once")
    func asking() {
        let inbox = ControlInbox()
        for id in [2, 5, 7, 9] as [UInt64] { inbox.asks(id) }
        #expect(!inbox.hasAsked(3))
        #expect(inbox.hasAsked(7))
        #expect(!inbox.hasAsked(5) && !inbox.hasAsked(7))
        #expect(inbox.hasAsked(9))
    }

    private func told(_ socket: WebSocket, _ count: Int) async throws -> [ToldEvent] {
        var events: [ToldEvent] = []
        while events.count < count, let event = try await socket.nextTold() { events.append(event) }
        return events
    }

    @Test("Pings and pongs stand between the messages as they came, also with those of the handshake and in pieces")
    func conversation() async throws {
        for streamsMessages in [false, true] {
            var options = WebSocketOptions()
            options.tellsControlFrames = true
            options.streamsMessages = streamsMessages
            try await withClient(options: options, followedBy: [.ping([1]), .text("a"), .ping([2])]) { socket, peer in
                try await peer.send(.text("b", isFinal: false), .pong([3]), .continuation([]))
                try await peer.send(.ping([4]), .close(1_000))
                let seen = try await told(socket, 10)
                #expect(
                    seen == [
                        .ping([1]), .message("a"), .ping([2]), .pong([3], roundTrip: nil), .message("b"), .ping([4]),
                    ]
                )
            }
        }
    }

    @Test("Whoever waits is told of a ping at once, and of the end with what came before it")
    func waking() async throws {
        var options = WebSocketOptions()
        options.tellsControlFrames = true
        try await withClient(options: options) { socket, peer in
            let first = await waiting(on: socket) { try await $0.nextTold() }
            try await peer.send(.ping([1]))
            #expect(try await first.value == .ping([1]))
            try await peer.send(.ping([2]))
            _ = try await peer.readFrame { $0.opcode == 0xA && $0.payload == [2] }
            await peer.reset()
            #expect(try await socket.nextTold() == .ping([2]))
            await expect(.connectionLost) { try await socket.nextTold() }
        }
    }

    @Test("A connection without a delegate keeps none")
    func none() async throws {
        try await withClient { socket, peer in
            try await peer.send(.ping([1]), .text("a"))
            #expect(try await socket.receive() == "a")
            #expect(await socket.keepsNoControlFrames)
        }
    }

    @Test("A ping of one's own carries its payload, and its pong ends the wait")
    func payload() async throws {
        try await withClient { socket, peer in
            let pinger = await waiting(on: socket) { try await $0.ping([7, 8]) }
            let frame = try await peer.readFrame()
            #expect(frame.opcode == 0x9 && frame.payload == [7, 8])
            try await peer.send(.pong([9]), .pong([7, 8]))
            #expect(try await pinger.value > .zero)
        }
    }
}

extension WebSocket {
    fileprivate var keepsNoControlFrames: Bool { extras?.controlInbox == nil }
}

@Suite("Who sends on a connection besides its handler", .timeLimit(minutes: 1))
struct SocketFollowerTests {
    private final class Follower: SocketFollower {
        let log: Bulletin<[String]>
        init(_ log: Bulletin<[String]>) { self.log = log }
        func becameWritable(_ socket: isolated WebSocket) { log.change { $0.append("writable") } }
        func ended() { log.change { $0.append("ended") } }
        var droppedMessages: Int { 7 }
    }

    @Test("It is told of room behind a time without, and of the end")
    func told() async throws {
        try await TestLoop.run { test in
            let log = Bulletin<[String]>([])
            let pair = await WebSocketPair(on: test.group, capacity: .kibibytes(4))
            let frame = PreparedMessage(.binary([UInt8](repeating: 7, count: 40_000)))
            let taken = await Self.fill(pair.server, frame, log)
            #expect(taken == [true, false])
            for _ in 0..<3 { _ = try await pair.client.receive() }
            await test.settle()
            #expect(log.value == ["writable"])
            await pair.client.reset()
            await test.settle()
            #expect(log.value == ["writable", "ended"])
        }
    }

    private static func fill(
        _ socket: isolated WebSocket,
        _ frame: PreparedMessage,
        _ log: Bulletin<[String]>
    ) -> [Bool] {
        socket.follower = Follower(log)
        var taken: [Bool] = []
        socket.gather(frame)
        taken.append(socket.takesMore)
        socket.enqueue(frame)
        socket.gather(frame)
        taken.append(socket.takesMore)
        return taken
    }
}
