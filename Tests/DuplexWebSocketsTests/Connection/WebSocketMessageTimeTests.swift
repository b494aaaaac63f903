// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("The time that a message may take, on a connection", .timeLimit(minutes: 1))
struct WebSocketMessageTimeTests {
    private static func options(inbox: Int = 16) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.limits = .internet.with(messageTime: .milliseconds(300))
        options.limits.inboxMessages = inbox
        options.pings = .every(.milliseconds(100), timeout: .seconds(20))
        return options
    }

    /// Lets twice the time pass that a message may take, in which the peer answers pings.
    private static func letTimePass(_ peer: RawPeer, _ loop: TestLoop) async throws {
        for _ in 0..<6 {
            await loop.advance(by: .milliseconds(100))
            let ping = try await peer.readFrame()
            try #require(ping.opcode == 0x9)
            try await peer.send(RawFrame(0xA, ping.payload))
        }
    }

    @Test("A peer that answers pings and doesn't finish its message is failed, and blamed")
    func failing() async throws {
        try await withMemoryClient(options: Self.options()) { socket, peer, loop in
            try await peer.send(RawFrame(0x2, [1, 2, 3], isFinal: false))
            let answering = await loop.begin {
                while true {
                    let frame = try await peer.readFrame()
                    if frame.opcode != 0x9 { return frame.opcode }
                    try await peer.send(RawFrame(0xA, frame.payload))
                }
            }
            await loop.advance(by: .milliseconds(299))
            #expect(await socket.state == .open)
            await loop.advance(by: .milliseconds(1))
            let opcode = try await answering.value
            #expect(opcode == 0x8)
            let error = await #expect(throws: WebSocketError.self) { try await socket.receive() }
            #expect(error?.closeReport?.error?.code == .messageTimeout)
            #expect(error?.closeReport?.sent?.code == .policyViolation)
            await peer.reset()
        }
    }

    @Test("Time in which the app doesn't take messages isn't the peer's")
    func slowApp() async throws {
        try await withMemoryClient(options: Self.options(inbox: 1)) { socket, peer, loop in
            try await peer.send(.text("one"), .text("two"), RawFrame(0x1, Array("thr".utf8), isFinal: false))
            try await Self.letTimePass(peer, loop)
            // Not read before the app has taken what is there.
            try await peer.send(.continuation(Array("ee".utf8)))
            #expect(try await socket.receive() == "one")
            #expect(try await socket.receive() == "two")
            #expect(try await socket.receive() == "three")
            await peer.reset()
        }
    }

    @Test("A message that is read in pieces takes as long as it takes")
    func pieces() async throws {
        var options = Self.options()
        options.streamsMessages = true
        try await withMemoryClient(options: options) { socket, peer, loop in
            let reader = await loop.begin { try await Self.firstMessage(socket) }
            try await peer.send(RawFrame(0x2, [1, 2], isFinal: false))
            try await Self.letTimePass(peer, loop)
            try await peer.send(.continuation([3]))
            let bytes = try await reader.value
            #expect(bytes == [1, 2, 3])
            await peer.reset()
        }
    }

    private static func firstMessage(_ socket: isolated WebSocket) async throws -> [UInt8] {
        for try await message in socket.streamedMessages {
            var bytes: [UInt8] = []
            for try await piece in message { bytes += piece }
            return bytes
        }
        return []
    }
}
