// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

/// A message that was right, and a violation after it in the same read (RFC 6455 section 7.1.7).
@Suite(.timeLimit(minutes: 1)) struct WebSocketViolationTests {
    /// "Hello", and a frame with a reserved bit.
    private static let frames: [UInt8] = [0x81, 5] + Array("Hello".utf8) + [0xA1, 2] + Array("no".utf8)

    @Test("A busy app answers the message, and the connection fails when it asks for the next one")
    func answered() async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .client, on: loop.group)
            let gate = Bulletin(false)
            let app = await loop.begin {
                let message = try await peer.socket.receive()
                _ = try await gate.wait { $0 ? true : nil }
                try await peer.socket.send(message)
                return try await peer.socket.receive()
            }
            try await peer.send(raw: Self.frames)
            await loop.advance(by: .seconds(9))
            #expect(await peer.socket.state == .open)
            gate.change { $0 = true }
            try await peer.expect(.text("Hello"))
            try await peer.expectClose(1_002)
            await peer.close()
            await expect(.protocolViolation) { try await app.value }
        }
    }

    @Test(
        "An app that doesn't come back has as long as a closing handshake; one that closes fails the connection at once"
    )
    func away() async throws {
        try await TestLoop.run { loop in
            for closes in [false, true] {
                let peer = await ScriptedPeer(of: .client, on: loop.group)
                try await peer.send(raw: Self.frames)
                await loop.settle()
                #expect(try await peer.socket.receive() == .text("Hello"))
                if closes {
                    let closing = await loop.begin { await peer.socket.close() }
                    try await peer.expectClose(1_002)
                    await peer.close()
                    #expect(try await closing.value.error?.code == .reservedBits)
                } else {
                    await loop.advance(by: .seconds(10))
                    try await peer.expectClose(1_002)
                    await peer.close()
                }
                await loop.settle()
                await expect(.protocolViolation) { try await peer.socket.receive() }
            }
        }
    }

    @Test("What a transport that fails had brought before is given, also while a peer that is too fast isn't read")
    func lost() async throws {
        try await TestLoop.run { loop in
            var options = WebSocketOptions()
            options.limits = .internet.with(messageRate: .perSecond(10, burst: 1))
            let peer = await ScriptedPeer(of: .client, options: options, on: loop.group)
            let app = await loop.begin {
                var messages: [Message] = []
                do {
                    while true { messages.append(try await peer.socket.receive()) }
                } catch {
                    return (messages, (error as? WebSocketError)?.code)
                }
            }
            // More than a turn takes, so that some wait when the peer has to be read more slowly.
            try await peer.send(raw: (0..<1_000).flatMap { _ in [0x81, 1, 0x2A] as [UInt8] })
            await loop.settle()
            await peer.reset()
            let writing = await loop.begin { try? await peer.socket.send("fails") }
            try await writing.value
            await loop.advance(by: .seconds(200))
            let (messages, code) = try await app.value
            #expect(messages.count == 1_000 && code == .connectionLost)
        }
    }

    @Test("A session of a client that reconnects gives the message, sends the answer, and fails then")
    func reconnecting() async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket(url, policy: .constant(.milliseconds(1)))
            let app = Task {
                for try await session in client.sessions {
                    for try await message in session.messages { try await session.send(message) }
                }
            }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            try await peer.send(Self.frames)
            #expect(try await peer.readFrame().text == "Hello")
            #expect(try await peer.readFrame().closeCode == 1_002)
            await peer.close()
            await expect(.protocolViolation) { try await app.value }
            await client.close()
        }
    }
}
