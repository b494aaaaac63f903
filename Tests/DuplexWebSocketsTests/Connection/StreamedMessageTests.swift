// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct StreamedMessageTests {
    private static var streaming: WebSocketOptions {
        var options = WebSocketOptions()
        options.streamsMessages = true
        options.pings = .disabled
        return options
    }

    private static func bytes(of message: StreamedMessage) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in message { bytes += piece }
        return bytes
    }

    private static func next(_ socket: WebSocket) async throws -> StreamedMessage {
        var iterator = socket.streamedMessages.makeAsyncIterator()
        guard let message = try await iterator.next() else { throw CancellationError() }
        return message
    }

    @Test("Each message is given in pieces that make it up, with control frames between them answered at once")
    func pieces() async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            try await peer.send(.text("one, ", isFinal: false), .ping([1]))
            #expect(try await peer.readFrame().opcode == 0xA)
            let first = try await Self.next(socket)
            var iterator = first.makeAsyncIterator()
            #expect(first.kind == .text)
            #expect(try await iterator.next() == Array("one, ".utf8))
            try await peer.send(.continuation(Array("two".utf8)), .binary([]), .binary([3]), .close(1_000))
            #expect(try await iterator.next() == Array("two".utf8))
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
            var rest: [[UInt8]] = []
            for try await message in socket.streamedMessages { rest.append(try await Self.bytes(of: message)) }
            #expect(rest == [[], [3]])
        }
    }

    @Test("A message of 64 MiB in one frame passes while the app holds little of it, and the connection not much more")
    func long() async throws {
        let length = 64 << 20
        try await withServer { server in
            server.webSockets.pings = .disabled
            server.webSocket("/") { socket in
                for try await message in socket.streamedMessages {
                    var count = 0
                    var largest = 0
                    var held = 0
                    for try await piece in message {
                        count += piece.count
                        largest = max(largest, piece.count)
                        held = max(held, socket.heldBytes)
                    }
                    try await socket.send("\(count) \(largest <= 64 << 10) \(held <= 5 << 18)")
                }
            }
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            let block = [UInt8](repeating: 0, count: 1 << 20)
            let count = (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
            // A key of zeros masks nothing.
            try await peer.send([0x82, 0xFF] + count + [0, 0, 0, 0])
            for _ in 0..<64 { try await peer.send(block) }
            #expect(try await peer.readFrame().text == "\(length) true true")
        }
    }

    @Test("While the app is slow, reading stops within its bound; then all of it comes")
    func backpressure() async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            let block = [UInt8](repeating: 7, count: 1 << 16)
            var sent = 0
            // Time may also run out because the reader is late.
            repeat {
                await #expect {
                    while true {
                        sent += 1
                        let frame = RawFrame(sent == 1 ? 0x2 : 0x0, block, isFinal: false)
                        try await peer.socket.write(peer.encoded(frame), timeout: .milliseconds(100))
                    }
                } throws: {
                    ($0 as? SocketError)?.code == .timedOut
                }
            } while await socket.heldBytes < 1 << 20
            let held = await socket.heldBytes
            #expect(held >= 1 << 20 && held < 5 << 18)
            let message = try await Self.next(socket)
            let reader = Task { try await Self.bytes(of: message).count }
            try await peer.send(.continuation([]))
            #expect(try await reader.value == sent << 16)
        }
    }

    @Test("Asking for the next message skips the rest of the one before, in bounded memory", arguments: [false, true])
    func skipping(arrivesLater: Bool) async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            try await peer.send(.binary([1, 2, 3], isFinal: false))
            let first = try await Self.next(socket)
            for try await piece in first {
                #expect(piece == [1, 2, 3])
                break
            }
            let rest = (0..<64).map { _ in RawFrame.continuation([UInt8](repeating: 9, count: 1 << 16), isFinal: false)
            }
            let next = Task { try await Self.next(socket) }
            if arrivesLater { _ = await socket.state }
            try await peer.send(rest + [.continuation([4]), .text("next")])
            let second = try await next.value
            #expect(try await Self.bytes(of: second) == Array("next".utf8))
            await expect(.messageEnded) { try await Self.bytes(of: first) }
        }
    }

    @Test("What messages in pieces and the pieces throw is caught without a cast")
    func typedFailure() async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            let first = await waiting(on: socket, for: socket.streamedMessages)
            first.cancel()
            #expect(try await first.value?.code == .cancelled)
            try await peer.send(.binary([1], isFinal: false))
            let message = try await Self.next(socket)
            let reader = await waiting(on: socket, for: message)
            reader.cancel()
            #expect(try await reader.value?.code == .cancelled)
            let rest = Task { await taken(message) }
            await peer.reset()
            #expect(await rest.value.error?.code == .connectionLost)
            #expect(await taken(socket.streamedMessages).error?.code == .connectionLost)
        }
    }

    @Test("Cancelling a reader ends its wait at once, and nothing is lost")
    func cancelled() async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            try await peer.send(.binary([1], isFinal: false))
            let message = try await Self.next(socket)
            var iterator = message.makeAsyncIterator()
            #expect(try await iterator.next() == [1])
            let reader = await waiting(on: socket) { socket in try await socket.nextPiece(of: message.number) }
            await expect(.alreadyReceiving) { try await socket.nextPiece(of: message.number) }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            try await peer.send(.continuation([2]))
            #expect(try await iterator.next() == [2])
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("Whole messages can be received between others: they are put together under their limit")
    func mixing() async throws {
        var options = Self.streaming
        options.limits = .internet.with(messageSize: 1_000)
        try await withClient(options: options) { socket, peer in
            try await peer.send(.text("he", isFinal: false), .continuation(Array("ad".utf8)))
            try await peer.send(.binary([UInt8](repeating: 5, count: 200_000)), .text("tail"), .binary([1]))
            #expect(try await socket.receive() == "head")
            #expect(try await Self.bytes(of: Self.next(socket)).count == 200_000)
            #expect(try await socket.receive() == "tail")
            #expect(try await socket.receive() == .binary([1]))
            let receiver = await waiting(on: socket) { socket in try await socket.receive() }
            try await peer.send(.binary([2], isFinal: false))
            try await peer.send(.ping(), .continuation([3]))
            #expect(try await receiver.value == .binary([2, 3]))
            try await peer.send(.binary([UInt8](repeating: 5, count: 1_001)))
            await expect(.protocolViolation) { try await socket.receive() }
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_009)
        }
    }

    @Test("A second reader is refused, and the first one doesn't notice", arguments: [true, false])
    func secondReader(streams: Bool) async throws {
        var options = Self.streaming
        options.streamsMessages = streams
        try await withClient(options: options) { socket, peer in
            let receiver = await waiting(on: socket) { socket in try await socket.receive() }
            await expect(.alreadyReceiving) { try await Self.next(socket) }
            await expect(.alreadyReceiving) { try await socket.stream.read() }
            try await peer.send(.binary([2], isFinal: false), .continuation([3]))
            #expect(try await receiver.value == .binary([2, 3]))
        }
    }

    private struct Echo: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    @Test("With a synchronous handler there is nothing to ask for, and the handler goes on to get whole messages")
    func handler() async throws {
        try await withClient(options: Self.streaming, handler: Echo()) { socket, peer in
            await expect(.alreadyReceiving) { try await Self.next(socket) }
            await expect(.alreadyReceiving) { try await socket.stream.read() }
            try await peer.send(.text("a", isFinal: false), .continuation(Array("b".utf8)))
            #expect(try await peer.readFrame().text == "ab")
        }
    }

    @Test("What came whole before the first ask is the first to be read")
    func switching() async throws {
        var options = WebSocketOptions()
        options.pings = .disabled
        try await withClient(options: options, followedBy: [.text("a"), .binary([1, 2])]) { socket, peer in
            try await peer.send(.text("b"), .ping())
            #expect(try await peer.readFrame().opcode == 0xA)
            #expect(try await Self.bytes(of: Self.next(socket)) == Array("a".utf8))
            // Nothing of it is read.
            #expect(try await Self.next(socket).kind == .binary)
            #expect(try await Self.bytes(of: Self.next(socket)) == Array("b".utf8))
            try await peer.send(.text("c", isFinal: false))
            #expect(try await Self.next(socket).kind == .text)
        }
    }

    @Test("An end in the middle of a message is an error, even a clean one; between two it is as of whole messages")
    func ends() async throws {
        for frame in [RawFrame.close(1_000), .close(1_011), nil] {
            try await withClient(options: Self.streaming) { socket, peer in
                try await peer.send([.binary([1], isFinal: false)] + (frame.map { [$0] } ?? []))
                let message = try await Self.next(socket)
                if frame == nil { await peer.close() }
                await expect(frame == nil ? .connectionLost : .closed) { try await Self.bytes(of: message) }
            }
        }
        try await withClient(options: Self.streaming) { socket, peer in
            try await peer.send(.binary([1]), .close(1_000))
            var count = 0
            for try await message in socket.streamedMessages { count += try await Self.bytes(of: message).count }
            #expect(count == 1)
        }
        try await withClient(options: Self.streaming) { socket, peer in
            let reader = await waiting(on: socket) { socket in try await socket.nextStreamedMessage(limit: .unlimited)
            }
            try await peer.send(.close(1_011))
            await expect(.closed) { try await reader.value }
        }
    }

    @Test("After this side's close, what there is no room for is thrown away, and its message isn't given for whole")
    func closing() async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            let closer = Task { await socket.close() }
            #expect(try await peer.readFrame().opcode == 0x8)
            let block = [UInt8](repeating: 1, count: 1 << 16)
            try await peer.send(.binary(block, isFinal: false))
            for _ in 0..<40 { try await peer.send(.continuation(block, isFinal: false)) }
            while await !socket.hasCut { await nextTurn(of: socket.loop) }
            let message = try await Self.next(socket)
            var iterator = message.makeAsyncIterator()
            while await socket.heldBytes > 0 { _ = try await iterator.next() }
            // There is room for the end, but not all that was before it is there.
            try await peer.send(.continuation([]), .close(1_000))
            await peer.finishWriting()
            #expect(await closer.value.isClean)
            await expect(.closed) { try await Self.bytes(of: message) }
        }
    }

    @Test("A message beyond the limit fails with 1009, after what was right of it; wrong text with 1007")
    func violations() async throws {
        try await withClient(options: Self.streaming) { socket, peer in
            var iterator = socket.streamedMessages(limit: 3).makeAsyncIterator()
            try await peer.send(.binary([1, 2, 3]))
            _ = try await iterator.next()
            try await peer.send(.binary([1, 2], isFinal: false), .continuation([3, 4]))
            // The first was begun before the limit was known to the session, the second behind it.
            let message = try await iterator.next()
            await expect(.protocolViolation) { try await Self.bytes(of: #require(message)) }
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_009)
        }
        try await withClient(options: Self.streaming) { socket, peer in
            try await peer.send(.text("right", isFinal: false), .continuation([0x61, 0xFF]))
            let message = try await Self.next(socket)
            var read: [UInt8] = []
            await expect(.protocolViolation) { for try await piece in message { read += piece } }
            #expect(read == Array("righta".utf8))
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_007)
        }
    }

    @Test("What is inflated of the last byte when there is room again comes as well")
    func lastByte() async throws {
        var limits = MessageLimits.internet
        limits.inboxBytes = .kibibytes(64)
        var options = WebSocketOptions()
        options.compression = .required
        try await withServer { [limits] server in
            server.webSockets.compression = .required
            server.limits.messages = limits
            server.webSocket("/") { socket in
                for try await message in socket.streamedMessages {
                    try await socket.send("\(try await Self.bytes(of: message).count)")
                }
            }
        } _: { [options] address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            for length in stride(from: 65_537, to: 66_600, by: 17) {
                try await client.send([UInt8](repeating: 0, count: length))
                #expect(try await client.receive() == .text("\(length)"))
            }
            await client.close()
        }
    }

    @Test("Compressed messages are inflated as they are read, with context and without", arguments: [true, false])
    func compressed(takesOver: Bool) async throws {
        var parameters = CompressionParameters()
        parameters.clientContextTakeover = takesOver
        let compression = WebSocketCompression.parameters(parameters, isRequired: true)
        var options = WebSocketOptions()
        options.compression = compression
        options.limits = .internet.with(messageSize: .mebibytes(32))
        let limits = MessageLimits.internet
        try await withServer { server in
            server.webSockets.compression = compression
            server.limits.messages = limits
            server.webSocket("/") { socket in
                for try await message in socket.streamedMessages {
                    var count = 0
                    var held = 0
                    for try await piece in message {
                        count += piece.count
                        held = max(held, socket.heldBytes)
                    }
                    try await socket.send("\(count) \(held < 5 << 18)")
                }
            }
        } _: { [options] address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            for length in [10, 20 << 20, 0, 300_000] {
                try await client.send([UInt8](repeating: 7, count: length))
                #expect(try await client.receive() == .text("\(length) true"))
            }
            await client.close()
        }
    }
}

extension WebSocket {
    fileprivate var hasCut: Bool { streams?.inbox.isCut == true }
    fileprivate var heldBytes: Int { streams?.inbox.byteCount ?? 0 }
}
