// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Logging
import Testing

@Suite("What is logged of a connection")
struct WebSocketLogTests {
    @Test("A client logs its opening and its end, with its identity, and nothing for messages")
    func client() async throws {
        let log = RecordedLog()
        var options = WebSocketOptions()
        options.logger = log.logger
        options.subprotocols = ["chat"]
        try await withPair(options: options) {
            $0.webSockets.subprotocols = ["chat"]
        } _: { client, server in
            for _ in 0..<10 { try await client.send("x") }
            for _ in 0..<10 { _ = try await server.receive() }
            async let end = try? server.receive()
            await client.close()
            _ = await end
            let entries = log.entries
            #expect(entries.map(\.level) == [.debug, .debug])
            #expect(entries.map(\.message) == ["a WebSocket is open", "a WebSocket is closed"])
            #expect(entries.allSatisfy { $0.metadata["connection"] == client.id.description })
            #expect(entries.allSatisfy { $0.metadata["peer"] == client.remoteAddress?.description })
            #expect(entries.first?.metadata["subprotocol"] == "chat" && entries.first?.metadata["took"] != nil)
            #expect(entries.last?.metadata["out"] == "10 messages, 10 bytes")
            #expect(entries.last?.metadata["report"]?.contains("1000") == true)
        }
    }

    @Test("A server logs the same, and handlers that fail with the identity of their connection")
    func server() async throws {
        let log = RecordedLog()
        try await withServer { server in
            server.logger = log.logger
            server.webSocket("/") { socket in
                _ = try await socket.receive()
                throw HandshakeError(.refused, "no more")
            }
        } _: { address in
            let socket = try await WebSocket.connect(to: "ws://\(address)/")
            try await socket.send("go")
            await expect(.closed) { while true { _ = try await socket.receive() } }
            // Or it would be dropped, and reset, before its answer is sent.
            await socket.close()
        }
        let entries = log.entries
        #expect(entries.map(\.level) == [.debug, .error, .debug])
        #expect(Set(entries.compactMap { $0.metadata["connection"] }).count == 1)
        #expect(entries.last?.metadata["in"] == "1 messages, 2 bytes")
    }

    @Test("A server tells what its peers did wrong at debug: they may be anybody, and as many as they like")
    func faultsOfPeers() async throws {
        let log = RecordedLog()
        try await withServer { server in
            server.logger = log.logger
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            let socket = try await WebSocket.connect(to: "ws://\(address)/")
            await socket.reset()
        }
        let louder = log.entries.filter { $0.level > .debug }
        #expect(louder.map(\.level) == [.info] && louder.first?.metadata == ["lost": "1", "total": "1"])
        #expect(log.entries.contains { $0.level == .debug && $0.message == "a WebSocket was lost" })
    }

    @Test("A client tells what goes wrong at notice: a broken rule, and an end without a closing handshake")
    func faults() async throws {
        for frames in [[RawFrame(0x3)], []] {
            let log = RecordedLog()
            var options = WebSocketOptions()
            options.logger = log.logger
            try await withClient(options: options) { socket, peer in
                try await peer.send(frames)
                if frames.isEmpty { await peer.finishWriting() }
                _ = try? await socket.receive()
                if !frames.isEmpty { _ = try await peer.readFrame() }
                await peer.reset()
                await socket.close()
                let last = try #require(log.entries.last)
                #expect(last.level == .notice)
                let message =
                    frames.isEmpty ? "a WebSocket ended without a closing handshake" : "a WebSocket has failed"
                #expect(last.message == message)
            }
        }
    }
}
