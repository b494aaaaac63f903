// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct WebSocketMessagesTests {
    @Test("The messages end when the peer closes in order", arguments: [nil, 1_000, 1_001] as [UInt16?])
    func endInOrder(code: UInt16?) async throws {
        try await withClient { socket, peer in
            try await peer.send(.text("a"), .text("b"), .close(code))
            var texts: [Message] = []
            for try await message in socket.messages { texts.append(message) }
            #expect(texts == ["a", "b"])
            #expect(try await peer.readFrame() == maskedClose(code))
        }
    }

    private func maskedClose(_ code: UInt16?) -> RawFrame {
        var frame = RawFrame.close(code)
        frame.isMasked = true
        return frame
    }

    @Test(
        "The messages throw when the peer closes for any other reason",
        arguments: [1_002, 1_003, 1_011, 3_000, 4_999] as [UInt16]
    )
    func endOutOfOrder(code: UInt16) async throws {
        try await withClient { socket, peer in
            try await peer.send(.text("a"), .close(code, "because"))
            var count = 0
            await #expect {
                for try await _ in socket.messages { count += 1 }
            } throws: {
                let error = $0 as? WebSocketError
                return error?.code == .closed && error?.closeReport?.received?.code?.rawValue == code
                    && error?.closeReport?.received?.reason == "because"
            }
            #expect(count == 1)
        }
    }

    @Test("The messages throw when the connection is lost, after those that had arrived")
    func endByLoss() async throws {
        try await withClient { socket, peer in
            try await peer.send(.text("a"))
            var iterator = socket.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "a")
            await peer.reset()
            await expect(.connectionLost) { try await iterator.next() }
        }
    }

    @Test("What the messages throw is caught without a cast, whatever it is")
    func typedFailure() async throws {
        try await withClient { socket, peer in
            let reader = await waiting(on: socket, for: socket.messages)
            let second = await taken(socket.messages).error
            #expect(second?.code == .alreadyReceiving)
            reader.cancel()
            let error = try await reader.value
            #expect(error?.code == .cancelled && error?.closeReport == nil && error?.cause is CancellationError)
            // Nothing was lost, and the connection lives on.
            try await peer.send(.text("kept"), .close(4_000))
            let end = await taken(socket.messages)
            #expect(end.elements == ["kept"])
            #expect(end.error?.code == .closed && end.error?.closeReport?.received?.code?.rawValue == 4_000)
        }
        try await withClient { socket, peer in
            try await peer.send(.text("a"), .close(1_000))
            let end = await taken(socket.messages)
            #expect(end.elements == ["a"] && end.error == nil)
        }
    }

    @Test("A task that is cancelled already gets no message that isn't there, and says so by the type")
    func cancelledBefore() async throws {
        try await withClient { socket, _ in
            let reader = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await taken(socket.messages).error?.code
            }
            #expect(await reader.value == .cancelled)
            #expect(await socket.state == .open)
        }
    }

    /// Reads on the loop, in a task that isn't the handler's.
    private func texts(of socket: isolated WebSocket) async throws -> [Message] {
        var texts: [Message] = []
        for try await message in socket.messages {
            texts.append(message)
            try await socket.send(message)
        }
        return texts
    }

    /// Reads away from the loop, whichever task it is called by.
    @MainActor
    private static func echoFromMainActor(_ socket: WebSocket) async throws {
        for try await message in socket.messages { try await socket.send(message) }
    }

    @Test("A task on the loop that isn't a handler's gets what had come and what it waits for, and sends it back")
    func onLoop() async throws {
        try await withClient { socket, peer in
            try await peer.send(.text("a"), .text("b"))
            async let read = texts(of: socket)
            var echoes = [try await peer.readFrame().payload, try await peer.readFrame().payload]
            try await peer.send(.text("c"))
            echoes.append(try await peer.readFrame().payload)
            try await peer.send(.close(1_000))
            let texts = try await read
            #expect(texts == ["a", "b", "c"])
            #expect(echoes.map { String(decoding: $0, as: UTF8.self) } == ["a", "b", "c"])
        }
    }

    @Test("A handler that reads on another actor gets what had come and what it waits for, and sends it back")
    func handlerElsewhere() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in try await Self.echoFromMainActor(socket) }
        } _: { address in
            let client = try await WebSocket.connect(to: "ws://\(address)/")
            for round in 0..<20 {
                try await client.send("\(round)")
                try await client.send("and \(round)")
                #expect(try await client.receive() == .text("\(round)"))
                #expect(try await client.receive() == .text("and \(round)"))
            }
            #expect(await client.close().isClean)
        }
    }

    @Test("The messages end when this side closes")
    func endByThisSide() async throws {
        try await withPair { client, _ in
            let reader = await waiting(on: client) { socket in
                var count = 0
                for try await _ in socket.messages { count += 1 }
                return count
            }
            #expect(await client.close().isClean)
            let count = try await reader.value
            #expect(count == 0)
        }
    }

    @Test("A sequence begun again goes on where the last one stopped")
    func twoIterations() async throws {
        try await withPair { client, server in
            for text in ["a", "b", "c"] { try await server.send(text) }
            for try await message in client.messages {
                #expect(message == "a")
                break
            }
            var iterator = client.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "b")
            #expect(try await client.receive() == "c")
        }
    }
}
