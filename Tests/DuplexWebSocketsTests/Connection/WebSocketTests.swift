// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct WebSocketTests {
    @Test("A new connection is open, knows both addresses, and has nothing to report")
    func newConnection() async throws {
        try await withPair { client, server in
            #expect(await client.state == .open)
            #expect(await server.state == .open)
            #expect(await client.localAddress == server.remoteAddress)
            #expect(await server.localAddress == client.remoteAddress)
            #expect(client.subprotocol == nil)
            let report = await client.closeReport
            #expect(report.sent == nil && report.received == nil && report.initiator == nil && report.error == nil)
            #expect(await client.queuedBytes == 0)
        }
    }

    @Test("Both sides know the subprotocol that they agreed on")
    func subprotocol() async throws {
        var options = WebSocketOptions()
        options.subprotocols = ["chat.v2", "chat.v1"]
        try await withPair(options: options) { server in
            server.webSockets.subprotocols = ["chat.v1"]
        } _: { client, server in
            #expect(client.subprotocol == "chat.v1")
            #expect(server.subprotocol == "chat.v1")
        }
    }

    @Test("Messages that come in one piece with the 101 are the first to be received")
    func messagesWithTheHandshake() async throws {
        try await withClient(followedBy: [.text("first"), .binary([2])]) { socket, peer in
            try await peer.send(.text("third"))
            #expect(try await socket.receive() == .text("first"))
            #expect(try await socket.receive() == .binary([2]))
            #expect(try await socket.receive() == .text("third"))
        }
    }

    @Test(
        "More messages than the inbox holds, in one piece with the 101, all arrive, and the close behind them is seen"
    )
    func floodWithTheHandshake() async throws {
        let frames = (0..<100).map { RawFrame.text("message \($0)") }
        try await withClient(followedBy: frames + [.close(1_000)]) { socket, peer in
            for number in 0..<100 { #expect(try await socket.receive() == .text("message \(number)")) }
            await expect(.closed) { try await socket.receive() }
            let answer = try await peer.readFrame()
            #expect(answer.closeCode == 1_000)
        }
    }

    @Test("A frame that begins in one piece with the 101 and ends later arrives whole")
    func halfAFrameWithTheHandshake() async throws {
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url)
            let peer = try await accept()
            let head = RawPeer.upgradeResponse(to: try await peer.readHead())
            let frame = peer.encoded(.text("in two halves"))
            try await peer.send(Array(head.utf8) + frame.prefix(6))
            let socket = try await connected
            try await peer.send(Array(frame.dropFirst(6)))
            #expect(try await socket.receive() == .text("in two halves"))
        }
    }

    @Test("What a server sends before its client reads waits for the client")
    func serverSpeaksFirst() async throws {
        try await withPair { client, server in
            for number in 0..<10 { try await server.send("greeting \(number)") }
            // The pong comes behind the greetings, so they have all arrived before anybody asks for them.
            _ = try await server.ping()
            for number in 0..<10 { #expect(try await client.receive() == .text("greeting \(number)")) }
        }
    }

    @Test("A client that sends in one piece with its request is heard")
    func clientSpeaksAtOnce() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(Array(RawPeer.upgradeRequest().utf8) + peer.encoded(.text("already")))
            #expect(try await peer.readResponse().status == 101)
            #expect(try await peer.readFrame().text == "already")
        }
    }

    @Test("A socket that is dropped resets its connection")
    func dropped() async throws {
        try await withListener { url, accept in
            var (socket, peer) = try await connect(url, accept)
            weak let reference = socket
            #expect(await reference?.state == .open)
            socket = nil
            #expect(reference == nil)
            await #expect {
                try await peer.readFrame()
            } throws: {
                ($0 as? SocketError)?.code == .connectionReset
            }
        }
    }

    @Test("A socket that is dropped at the end of its connection answers the close frame, and hears its peer out")
    func droppedAtTheEnd() async throws {
        try await withListener { url, accept in
            var (socket, peer) = try await connect(url, accept)
            let loop = try #require(socket).loop
            try await peer.send(.text("a"), .close(1_000))
            #expect(try await socket?.receive() == .text("a"))
            await expect(.closed) { try await socket?.receive() }
            weak let reference = socket
            socket = nil
            #expect(reference == nil)
            // The loop has done what the end of the object asks for.
            await nextTurn(of: loop)
            // With a reset the second of them would fail.
            for _ in 0..<2 { try await peer.send(.text("late")) }
            #expect(try await peer.readFrame().closeCode == 1_000)
            #expect(try await peer.isAtEnd())
        }
    }

    /// In a function of its own, because an `async let` keeps its value to the end of its scope.
    private func connect(_ url: String, _ accept: () async throws -> RawPeer) async throws -> (WebSocket?, RawPeer) {
        async let connected = WebSocket.connect(to: url)
        let peer = try await accept()
        try await peer.acceptWebSocket()
        return (try await connected, peer)
    }
}
