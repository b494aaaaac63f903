// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct WebSocketStreamTests {
    private static var quiet: WebSocketOptions {
        var options = WebSocketOptions()
        options.pings = .disabled
        options.compression = .disabled
        return options
    }

    @Test("Bytes come in order whatever the messages were, and 1000 ends them")
    func reading() async throws {
        try await withClient(options: Self.quiet, followedBy: [.binary([1, 2])]) { socket, peer in
            let stream = socket.stream
            try await peer.send(.binary([3], isFinal: false), .ping(), .continuation([]), .binary([]))
            try await peer.send(.binary([4, 5, 6]))
            #expect(try await stream.read(exactly: 4) == [1, 2, 3, 4])
            #expect(try await stream.read() == [5, 6])
            #expect(try await stream.read(exactly: 0) == [])
            try await peer.send(.binary([7]), .close(1_000))
            await expect(.closed) { try await stream.read(exactly: 2) }
            #expect(try await stream.read() == [7])
            #expect(try await stream.read() == nil)
            #expect(try await stream.read() == nil)
        }
    }

    @Test("Any other end is an error, and so is one within a message, and a text")
    func errors() async throws {
        for frames in [[.close(1_001)], [.close()], [.binary([1], isFinal: false), .close(1_000)]] as [[RawFrame]] {
            try await withClient(options: Self.quiet) { socket, peer in
                try await peer.send(frames)
                await expect(.closed) { for try await _ in socket.stream {} }
            }
        }
        try await withClient(options: Self.quiet) { socket, peer in
            await peer.close()
            await expect(.connectionLost) { try await socket.stream.read() }
        }
        try await withClient(options: Self.quiet) { socket, peer in
            try await peer.send(.text("no bytes"))
            await expect(.protocolViolation) { try await socket.stream.read() }
            #expect(try await peer.readFrame().closeCode == 1_003)
        }
    }

    @Test("What is written goes in binary messages of at most 64 KiB, and finishing closes with 1000")
    func writing() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0) }
            let writer = Task {
                try await socket.stream.write([])
                try await socket.stream.write(bytes)
                return await socket.stream.finish()
            }
            var read: [UInt8] = []
            while read.count < bytes.count {
                let frame = try await peer.readFrame()
                #expect(frame.opcode == 2 && frame.isFinal && frame.payload.count <= 1 << 16)
                read += frame.payload
            }
            #expect(read == bytes)
            #expect(try await peer.readFrame().closeCode == 1_000)
            try await peer.send(.close(1_000))
            await peer.finishWriting()
            #expect(try await writer.value.isClean)
        }
    }

    @Test("What the stream throws as a sequence is caught without a cast")
    func typedFailure() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let reader = await waiting(on: socket, for: socket.stream)
            reader.cancel()
            #expect(try await reader.value?.code == .cancelled)
            try await peer.send(.binary([1, 2]), .text("no bytes"))
            let end = await taken(socket.stream)
            #expect(end.elements == [[1, 2]] && end.error?.code == .protocolViolation)
        }
    }

    @Test("A cancelled read of a number leaves what had arrived for the next")
    func cancelled() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            try await peer.send(.binary([1, 2]), .ping())
            _ = try await peer.readFrame()
            let reader = await waiting(on: socket) { socket in try await socket.stream.read(exactly: 4) }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            try await peer.send(.binary([3, 4, 5]))
            #expect(try await socket.stream.read(exactly: 4) == [1, 2, 3, 4])
            #expect(try await socket.stream.read() == [5])
        }
    }

    @Test("A tunnel echoes megabytes in both directions at once")
    func tunnel() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await bytes in socket.stream { try await socket.stream.write(bytes) }
            }
        } _: { address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: Self.quiet)
            let block = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            async let written: Void = client.stream.write(block)
            let read = try await client.stream.read(exactly: block.count)
            try await written
            #expect(read == block)
            #expect(await client.stream.finish().isClean)
        }
    }
}
