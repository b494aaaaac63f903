// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("The time that a message may take, on a connection", .timeLimit(.minutes(1)))
struct WebSocketMessageTimeTests {
    /// Pings mark the time: four of them take longer than a message may.
    private static func options(inbox: Int = 16) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.limits = .internet.with(messageTime: .milliseconds(300))
        options.limits.inboxMessages = inbox
        options.keepalive = .every(.milliseconds(100), timeout: .seconds(20))
        return options
    }

    private static func letTimePass(_ peer: RawPeer) async throws {
        for _ in 0..<6 {
            let ping = try await peer.readFrame()
            try #require(ping.opcode == 0x9)
            try await peer.send(RawFrame(0xA, ping.payload))
        }
    }

    @Test("A peer that answers pings and doesn't finish its message is failed, and blamed")
    func failing() async throws {
        try await withClient(options: Self.options()) { socket, peer in
            try await peer.send(RawFrame(0x2, [1, 2, 3], isFinal: false))
            while try await peer.readFrame().opcode == 0x9 { try await peer.send(RawFrame(0xA, [])) }
            let error = await #expect(throws: WebSocketError.self) { try await socket.receive() }
            #expect(error?.closeReport?.error?.code == .messageTimeout)
            #expect(error?.closeReport?.sent?.code == .policyViolation)
            await peer.reset()
        }
    }

    @Test("Time in which the app doesn't take messages isn't the peer's")
    func slowApp() async throws {
        try await withClient(options: Self.options(inbox: 1)) { socket, peer in
            try await peer.send(.text("one"), .text("two"), RawFrame(0x1, Array("thr".utf8), isFinal: false))
            try await Self.letTimePass(peer)
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
        try await withClient(options: options) { socket, peer in
            let reader = Task { try await Self.firstMessage(socket) }
            try await peer.send(RawFrame(0x2, [1, 2], isFinal: false))
            try await Self.letTimePass(peer)
            try await peer.send(.continuation([3]))
            #expect(try await reader.value == [1, 2, 3])
            await peer.reset()
        }
    }

    private static func firstMessage(_ socket: isolated WebSocket) async throws -> [UInt8] {
        for try await message in socket.fragments {
            var bytes: [UInt8] = []
            for try await piece in message { bytes += piece }
            return bytes
        }
        return []
    }
}
