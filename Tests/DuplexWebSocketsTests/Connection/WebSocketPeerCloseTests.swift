// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct WebSocketPeerCloseTests {
    /// Times that a test can't wait for.
    private static var patient: WebSocketOptions {
        var options = WebSocketOptions()
        options.closeTimeout = .seconds(3_600)
        options.pings = .disabled
        return options
    }

    @Test("A peer's close is answered at once whatever the app hasn't taken, and stays for it", .timeLimit(minutes: 1))
    func untaken() async throws {
        try await withClient(options: Self.patient) { socket, peer in
            try await peer.send(.text("a"), .text("b"), .close(1_001, "gone"))
            #expect(try await peer.readFrame().closeCode == 1_001)
            await peer.close()
            let report = await socket.close()
            #expect(report.isClean && report.initiator == .remote)
            await #expect {
                try await socket.send("late")
            } throws: {
                let error = $0 as? WebSocketError
                return error?.code == .closed && error?.closeReport?.received?.reason == "gone"
            }
            #expect(try await socket.receive() == "a")
            #expect(try await socket.receive() == "b")
            await expect(.closed) { try await socket.receive() }
        }
    }

    @Test("An app that is busy with a message doesn't keep the peer's close waiting", .timeLimit(minutes: 1))
    func busy() async throws {
        let group = try EventLoopGroup(loops: 1)
        try await withClient(options: Self.patient, on: group) { socket, peer in
            try await peer.send(.text("last"))
            #expect(try await socket.receive() == "last")
            // So long as the loop is held no time passes on it.
            try await holding(socket.loop) {
            } while: {
                try await peer.send(.close(1_000))
                await nextTurn(of: peer.socket.loop)
            }
            await nextTurn(of: socket.loop)
            await nextTurn(of: socket.loop)
            #expect(await socket.closeReport.sent?.code == .normalClosure)
            #expect(try await peer.readFrame().closeCode == 1_000)
            await expect(.closed) { try await socket.send("too late") }
        }
        await group.stop()
    }

    @Test("A server that only sends answers its clients' close", .timeLimit(minutes: 1))
    func pushing() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                while true { try await socket.send("tick") }
            }
        } _: { address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: Self.patient)
            try await client.send("untaken")
            #expect(try await client.receive() == "tick")
            #expect(await client.close().isClean)
        }
    }

    @Test("A message that is being sent in pieces ends before the peer's close is answered; no other begins")
    func withinPieces() async throws {
        try await withClient(options: Self.patient) { socket, peer in
            let (gate, keeper) = AsyncStream<Void>.makeStream()
            async let sent: Void = socket.send(.text) { writer in
                try await writer.write("1")
                for await _ in gate {}
                try await writer.write("2")
            }
            #expect(try await peer.readFrame().text == "1")
            let held = await waiting(on: socket) { try await $0.send("held") }
            try await peer.send(.close(1_000))
            while await socket.closeReport.received == nil { await nextTurn(of: socket.loop) }
            await expect(.closed) { try await socket.send("other") }
            await expect(.closed) { try await socket.send(.text) { _ in } }
            #expect(await socket.closeReport.sent == nil)
            keeper.finish()
            try await sent
            await expect(.closed) { try await held.value }
            #expect(try await peer.readFrame().text == "2")
            #expect(try await peer.readFrame().isFinal)
            #expect(try await peer.readFrame().closeCode == 1_000)
        }
    }

    @Test("A message in pieces that doesn't end keeps the peer's close waiting for as long as a closing handshake")
    func withinEndlessPieces() async throws {
        var options = Self.patient
        options.closeTimeout = .milliseconds(50)
        try await withClient(options: options) { socket, peer in
            let (gate, keeper) = AsyncStream<Void>.makeStream()
            let sending = Task {
                try await socket.send(.text) { writer in
                    try await writer.write("1")
                    for await _ in gate {}
                }
            }
            #expect(try await peer.readFrame().text == "1")
            try await peer.send(.close(1_000))
            #expect(try await peer.readFrame().closeCode == 1_000)
            keeper.finish()
            await expect(.closed) { try await sending.value }
        }
    }
}
