// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct WebSocketServingTests {
    private struct Failure: Error {}

    /// The close frame of a server whose handler does that.
    private func closeFrame(
        _ handler: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) async throws -> RawFrame {
        try await withServer { server in
            server.webSocket("/", handler: handler)
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            let frame = try await peer.readFrame { $0.opcode == 0x8 }
            try await peer.send(.close(frame.closeCode))
            #expect(try await peer.isAtEnd())
            return frame
        }
    }

    @Test("A handler that returns closes with 1000, behind what it sent")
    func returning() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in try await socket.send("that's all") }
        } _: { address in
            let client = try await WebSocket.connect(to: "ws://\(address)/")
            var texts: [Message] = []
            for try await message in client.messages { texts.append(message) }
            #expect(texts == ["that's all"])
            #expect(await client.closeReport.code == .normalClosure)
        }
    }

    @Test("A handler that throws closes with 1011, and doesn't tell the peer why")
    func throwing() async throws {
        let frame = try await closeFrame { _ in throw Failure() }
        #expect(frame.closeCode == 1_011)
        #expect(frame.closeReason.isEmpty)
    }

    @Test("A handler that is cancelled closes with 1001")
    func cancelled() async throws {
        let errors: [any Error] = [CancellationError(), WebSocketError(.cancelled, message: "as sequences say it")]
        for error in errors {
            let frame = try await closeFrame { _ in throw error }
            #expect(frame.closeCode == 1_001)
        }
    }

    @Test("A handler that closes itself has the last word")
    func closing() async throws {
        let frame = try await closeFrame { socket in await socket.close(code: .policyViolation, reason: "no") }
        #expect(frame.closeCode == 1_008)
        #expect(frame.closeReason == "no")
    }

    @Test("A handler runs on the loop of its connection")
    func loop() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                let before = socket.loop.isCurrent
                for try await message in socket.messages {
                    try await socket.send("\(before) \(socket.loop.isCurrent) \(message)")
                }
            }
        } _: { address in
            let client = try await WebSocket.connect(to: "ws://\(address)/")
            try await client.send("hello")
            #expect(try await client.receive() == "true true hello")
            await client.close()
        }
    }

    @Test("A peer that vanishes ends the handler's messages with an error and leaves nothing behind")
    func vanished() async throws {
        let (errors, tell) = AsyncStream<(any Error)?>.makeStream()
        try await withServer { server in
            server.webSocket("/") { socket in
                do {
                    for try await _ in socket.messages {}
                    tell.yield(nil)
                } catch {
                    tell.yield(error)
                    throw error
                }
            }
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            await peer.reset()
            for await error in errors {
                #expect((error as? WebSocketError)?.code == .connectionLost)
                break
            }
        }
    }
}
