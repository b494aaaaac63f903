// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("Peers that send too much are read more slowly")
struct WebSocketRatesTests {
    private static func options(_ limits: MessageLimits, streams: Bool = false) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.limits = limits
        options.pings = .disabled
        options.streamsMessages = streams
        return options
    }

    private struct Echo: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    /// How long the peer waits for the answer to a ping that it sends behind all of these.
    private static func time(_ peer: RawPeer, behind bytes: [UInt8], _ loop: TestLoop) async throws -> Duration {
        let start = loop.elapsed
        let end = await loop.begin {
            try await peer.send(bytes)
            // Only what is read by itself finds the bucket empty.
            _ = try await peer.readFrame { $0.opcode == 0xA && $0.payload.first == 1 }
            try await peer.send(.ping([2]))
            _ = try await peer.readFrame { $0.opcode == 0xA && $0.payload.first == 2 }
            return loop.elapsed
        }
        await loop.advance(by: .seconds(10))
        return try await end.value - start
    }

    @Test("Messages and pings beyond the rate hold back what follows, and none is lost", arguments: 0..<3)
    func messages(way: Int) async throws {
        let limits = MessageLimits.internet.with(messageRate: .perSecond(100, burst: 10))
        let options = Self.options(limits, streams: way == 1)
        try await withMemoryClient(options: options, handler: way == 2 ? Echo() : nil) { socket, peer, loop in
            let reader = way < 2 ? await loop.begin { try await Self.count(socket) } : nil
            // With the two pings that are 62 of which 10 are free.
            let frames = (0..<30).map { _ in RawFrame.text("a") } + (0..<30).map { _ in RawFrame.ping([9]) }
            let time = try await Self.time(peer, behind: (frames + [.ping([1])]).flatMap { peer.encoded($0) }, loop)
            #expect(time > .milliseconds(480) && time < .seconds(10))
            try await peer.send(.close(1_000))
            if let reader { #expect(try await reader.value == 30) }
        }
    }

    private static func count(_ socket: WebSocket) async throws -> Int {
        var count = 0
        for try await _ in socket.messages { count += 1 }
        return count
    }

    @Test("Bytes beyond the rate hold back what follows")
    func bytes() async throws {
        let limits = MessageLimits.internet.with(messageRate: nil, byteRate: .perSecond(100_000, burst: 10_000))
        try await withMemoryClient(options: Self.options(limits)) { socket, peer, loop in
            let frame = peer.encoded(.binary([UInt8](repeating: 1, count: 60_000)))
            let time = try await Self.time(peer, behind: frame + peer.encoded(.ping([1])), loop)
            #expect(time > .milliseconds(480) && time < .seconds(10))
            #expect(try await socket.receive().byteCount == 60_000)
        }
    }

    @Test("Without a rate nothing is counted, and a slow peer is held back by none")
    func off() async throws {
        try await withClient(options: Self.options(.internet)) { socket, _ in
            #expect(await socket.hasStreams == false)
        }
        let limits = MessageLimits.internet.with(messageRate: .perSecond(1_000))
        try await withClient(options: Self.options(limits)) { socket, peer in
            for number in 0..<50 {
                try await peer.send(.text("\(number)"))
                #expect(try await socket.receive() == .text("\(number)"))
            }
            #expect(await !socket.isPaused)
        }
    }

    @Test("A message isn't late because this side kept the peer waiting, and is if its rest doesn't come")
    func messageTime() async throws {
        let limits = MessageLimits.internet.with(messageRate: .perSecond(20, burst: 2))
            .with(messageTime: .milliseconds(300))
        try await withMemoryClient(options: Self.options(limits)) { socket, peer, loop in
            // More than one read, of which the first costs a second of silence: the message has its end behind that.
            let pings = [RawFrame](repeating: .ping(), count: 22)
            let rest = String(repeating: "o", count: 200_000)
            let first = RawFrame(0x1, Array("sl".utf8), isFinal: false)
            try await peer.send([first] + pings + [.continuation(Array(rest.utf8))])
            let slow = await loop.begin { try await socket.receive() }
            await loop.advance(by: .seconds(2))
            let message = try await slow.value
            #expect(message == .text("sl" + rest))
            try await peer.send(RawFrame(0x1, Array("sl".utf8), isFinal: false))
            let late = await loop.begin { try await socket.receive() }
            await loop.advance(by: .milliseconds(300))
            let error = await #expect(throws: WebSocketError.self) { try await late.value }
            #expect(error?.closeReport?.error?.code == .messageTimeout)
            await peer.reset()
        }
    }

    @Test("A connection that isn't read for a long time can be closed, by either side")
    func closing() async throws {
        let limits = MessageLimits.internet.with(messageRate: .perSecond(1, burst: 2))
        try await withClient(options: Self.options(limits)) { socket, peer in
            try await peer.send((0..<500).map { _ in RawFrame.ping() })
            _ = try await peer.readFrame()
            while await !socket.isPaused { await nextTurn(of: socket.loop) }
            let closer = Task { await socket.close() }
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_000)
            try await peer.send(.close(1_000))
            await peer.finishWriting()
            #expect(await closer.value.isClean)
        }
        try await withClient(options: Self.options(limits)) { socket, peer in
            try await peer.send((0..<500).map { _ in RawFrame.ping() })
            _ = try await peer.readFrame()
            while await !socket.isPaused { await nextTurn(of: socket.loop) }
            await peer.reset()
            // It isn't read, but what this side writes finds out.
            await #expect(throws: WebSocketError.self) {
                while true {
                    try await socket.send([UInt8](repeating: 0, count: 1_000))
                    await nextTurn(of: socket.loop)
                }
            }
        }
    }
}

extension WebSocket {
    fileprivate var hasStreams: Bool { streams != nil }
    fileprivate var isPaused: Bool { streams?.isPaused == true }
}
