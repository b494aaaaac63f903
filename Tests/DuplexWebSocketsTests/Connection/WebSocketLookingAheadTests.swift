// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

/// A peer's close behind more messages than the inbox holds.
@Suite struct WebSocketLookingAheadTests {
    private static let texts = (0..<100).map { "message \($0)" }

    /// The WebSocket under test is one end of the pair, the peer is the other.
    private func ends(_ pair: WebSocketPair, _ role: WebSocketSession.Role) -> (tested: WebSocket, peer: WebSocket) {
        role == .server ? (pair.server, pair.client) : (pair.client, pair.server)
    }

    @Test(
        "It is answered in the same turn, and what came before it stays for the app",
        arguments: [.server, .client] as [WebSocketSession.Role]
    )
    func answered(role: WebSocketSession.Role) async throws {
        try await TestLoop.run { loop in
            let pair = await WebSocketPair(on: loop.group)
            let (tested, peer) = ends(pair, role)
            for text in Self.texts { try await peer.send(text) }
            await loop.settle()
            let closing = await loop.begin { await peer.close(code: .goingAway, reason: "later") }
            #expect(try await closing.value.isClean)
            #expect(loop.elapsed == .zero)
            #expect(await tested.closeReport.received?.reason == "later")
            await expect(.closed) { try await tested.send("late") }
            var taken: [String] = []
            for try await case .text(let text) in tested.messages { taken.append(text) }
            #expect(taken == Self.texts)
        }
    }

    @Test("Also when all of it has come at once, and when it comes byte by byte", arguments: [false, true])
    func splits(isSplit: Bool) async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .client, on: loop.group)
            var frames: [UInt8] = []
            for text in Self.texts { frames += [0x81, UInt8(text.utf8.count)] + Array(text.utf8) }
            frames += [0x88, 0x02, 0x03, 0xE8]
            for piece in isSplit ? frames.map({ [$0] }) : [frames] {
                try await peer.send(raw: piece)
                if isSplit { await loop.settle() }
            }
            try await peer.expectClose(1_000)
            #expect(loop.elapsed == .zero)
            for text in Self.texts { #expect(try await peer.socket.receive() == .text(text)) }
            await expect(.closed) { try await peer.socket.receive() }
        }
    }

    @Test("It is answered while the app takes what came before it, and all of it is given in order")
    func meanwhile() async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .server, on: loop.group)
            for text in Self.texts { try await peer.send(.text(text)) }
            await loop.settle()
            for text in Self.texts[..<30] { #expect(try await peer.socket.receive() == .text(text)) }
            try await peer.send(.text("last"))
            try await peer.sendClose()
            try await peer.expectClose(1_000)
            await peer.close()
            for text in Self.texts[30...] { #expect(try await peer.socket.receive() == .text(text)) }
            #expect(try await peer.socket.receive() == "last")
            await expect(.closed) { try await peer.socket.receive() }
        }
    }

    @Test("What is received ahead is bounded: a close behind more is answered once the app has taken some")
    func bounded() async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .client, on: loop.group)
            let large = [UInt8](repeating: 0x5A, count: 8 * 1_024)
            // The inbox takes 16 of them, and half of the others lie ahead.
            for _ in 0..<32 { try await peer.send(.binary(large)) }
            try await peer.sendClose()
            await loop.settle()
            #expect(await peer.socket.closeReport.received == nil)
            for _ in 0..<12 { #expect(try await peer.socket.receive() == .binary(large)) }
            try await peer.expectClose(1_000)
            for _ in 12..<32 { #expect(try await peer.socket.receive() == .binary(large)) }
            await expect(.closed) { try await peer.socket.receive() }
        }
    }

    @Test("It is given to who waits for it once output has gone that was waited for")
    func heldBack() async throws {
        try await TestLoop.run { loop in
            let pair = await WebSocketPair(on: loop.group, capacity: .kibibytes(4))
            let large = [UInt8](repeating: 1, count: 256 * 1_024)
            for text in Self.texts { try await pair.client.send(text) }
            await loop.settle()
            let sending = await loop.begin { try await pair.server.send(large) }
            let receiving = await loop.begin {
                var taken: [Message] = []
                for _ in Self.texts { taken.append(try await pair.server.receive()) }
                return taken
            }
            #expect(try await pair.client.receive() == .binary(large))
            try await sending.value
            #expect(try await receiving.value == Self.texts.map(Message.text))
        }
    }

    @Test("A reset behind a full inbox leaves the app what had come, and is told then")
    func reset() async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .client, on: loop.group)
            for text in Self.texts { try await peer.send(.text(text)) }
            await loop.settle()
            await peer.reset()
            await loop.settle()
            for text in Self.texts { #expect(try await peer.socket.receive() == .text(text)) }
            await expect(.connectionLost) { try await peer.socket.receive() }
        }
    }

    @Test("What breaks a rule before the close is told when the app comes to it")
    func violation() async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .client, on: loop.group)
            for text in Self.texts { try await peer.send(.text(text)) }
            try await peer.send(.text, [0xFF])
            try await peer.sendClose()
            try await peer.expectClose(1_000)
            for text in Self.texts { #expect(try await peer.socket.receive() == .text(text)) }
            await expect(.protocolViolation) { try await peer.socket.receive() }
        }
    }

    @Test("The app may close, reset or read in pieces from there on")
    func others() async throws {
        try await TestLoop.run { loop in
            let closing = await WebSocketPair(on: loop.group)
            let resetting = await WebSocketPair(on: loop.group)
            let reading = await WebSocketPair(on: loop.group)
            for pair in [closing, resetting, reading] {
                for text in Self.texts { try await pair.client.send(text) }
                await loop.settle()
            }
            // Before the peer closes.
            let close = await loop.begin { await closing.server.close() }
            #expect(try await close.value.isClean)
            await resetting.server.reset()
            await loop.settle()
            await expect(.closed) { try await resetting.server.receive() }
            let peerClose = await loop.begin { await reading.client.close() }
            #expect(try await peerClose.value.isClean)
            var taken: [String] = []
            for try await message in reading.server.streamedMessages {
                var bytes: [UInt8] = []
                for try await piece in message { bytes += piece }
                taken.append(String(decoding: bytes, as: UTF8.self))
            }
            #expect(taken == Self.texts)
            #expect(loop.elapsed == .zero)
        }
    }
}
