// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("A peer that follows a script")
struct ScriptedPeerTests {
    @Test(
        "It expects messages and sends some, against either role",
        arguments: [WebSocketSession.Role.client, .server]
    )
    func messages(role: WebSocketSession.Role) async throws {
        let peer = await ScriptedPeer(of: role)
        try await peer.socket.send("hi")
        try await peer.expect(.text("hi"))
        try await peer.socket.send([UInt8](repeating: 7, count: 70_000))
        try await peer.expect(.binary([UInt8](repeating: 7, count: 70_000)))
        try await peer.send(.text("x"))
        #expect(try await peer.socket.receive() == .text("x"))
        try await peer.send(.binary([UInt8](repeating: 1, count: 300)))
        #expect(try await peer.socket.receive() == .binary([UInt8](repeating: 1, count: 300)))
        async let closed = peer.socket.close(reason: "done")
        try await peer.expect(.close(1_000, "done"))
        try await peer.sendClose()
        try await peer.expect(.end)
        await peer.close()
        #expect(await closed.isClean)
    }

    @Test("It hears pings, pongs and messages in fragments")
    func frames() async throws {
        let peer = await ScriptedPeer(of: .client)
        try await peer.send(.ping, [1, 2])
        try await peer.expect(.pong([1, 2]))
        async let ping = peer.socket.ping([9])
        try await peer.expect(.ping([9]))
        try await peer.send(.pong, [9])
        _ = try await ping
        try await peer.socket.send(.text) { writer in
            try await writer.write("ab")
            try await writer.write("cd")
        }
        try await peer.expect(.text("abcd"))
        await peer.reset()
    }

    @Test("What breaks the protocol is answered by a close frame")
    func violation() async throws {
        let peer = await ScriptedPeer(of: .client)
        try await peer.send(raw: [0x83, 0x00])
        try await peer.expectClose(1_002)
        await peer.close()
    }

    @Test("What comes instead is told")
    func unexpected() async throws {
        let peer = await ScriptedPeer(of: .server)
        try await peer.socket.send("something else")
        let error = await #expect(throws: TestingError.self) { try await peer.expect(.text("hi")) }
        #expect(error?.code == .unexpected)
        #expect("\(try #require(error))" == "The peer expected text(\"hi\") and got text(\"something else\").")
        try await peer.socket.send("more")
        await #expect(throws: TestingError.self) { try await peer.expectClose(1_000) }
        await peer.socket.reset()
        try await peer.expect(.reset)
    }

    @Test("An expectation doesn't wait for ever")
    func patience() async throws {
        try await TestLoop.run { loop in
            let peer = await ScriptedPeer(of: .client, on: loop.group)
            let expectation = await loop.begin { try await peer.expect(.text("never")) }
            await loop.advance(by: .seconds(20))
            await #expect(throws: TestingError.self) { try await expectation.value }
            await peer.reset()
        }
    }
}
