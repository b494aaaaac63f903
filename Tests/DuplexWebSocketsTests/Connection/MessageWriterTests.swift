// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct MessageWriterTests {
    private struct Broken: Error {}

    private static var quiet: WebSocketOptions {
        var options = WebSocketOptions()
        options.pings = .disabled
        options.compression = .disabled
        return options
    }

    private static func shape(_ frame: RawFrame) -> String {
        "\(frame.opcode) \(frame.isFinal ? "end" : "more") \(frame.text)"
    }

    @Test("5.4 Each piece is a fragment, and the message ends behind the last")
    func frames() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let answer = try await socket.send(.text) { writer in
                try await writer.write("a")
                try await writer.write([])
                try await writer.write("bc")
                return 7
            }
            try await socket.send(.binary) { _ in }
            let (pieces, maker) = AsyncStream<[UInt8]>.makeStream()
            maker.yield([0x31])
            maker.finish()
            try await socket.send(pieces: pieces, as: .binary)
            var shapes: [String] = []
            for _ in 0..<6 { shapes.append(Self.shape(try await peer.readFrame())) }
            #expect(answer == 7)
            #expect(shapes == ["1 more a", "0 more bc", "0 end ", "2 end ", "2 more 1", "0 end "])
        }
    }

    @Test("5.4 Other messages wait their turn, in order, and control frames go between")
    func turns() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let (gate, keeper) = AsyncStream<Void>.makeStream()
            let (begun, begin) = AsyncStream<Void>.makeStream()
            async let first: Void = socket.send(.text) { writer in
                try await writer.write("1")
                begin.finish()
                for await _ in gate {}
                try await writer.write("2")
            }
            for await _ in begun {}
            let second = await waiting(on: socket) { socket in try await socket.send("3") }
            let isBelow = await enqueue([0x34], on: socket)
            #expect(!isBelow)
            #expect(await socket.queuedBytes >= 2)
            let third = await waiting(on: socket) { socket in
                try await socket.send(.binary) { writer in try await writer.write("5") }
            }
            let fourth = await waiting(on: socket) { socket in try await socket.send("6") }
            try await peer.send(.ping([0x70]))
            var shapes = [Self.shape(try await peer.readFrame()), Self.shape(try await peer.readFrame())]
            #expect(shapes == ["1 more 1", "10 end p"])
            keeper.finish()
            try await first
            try await second.value
            try await third.value
            try await fourth.value
            shapes = []
            for _ in 0..<7 { shapes.append(Self.shape(try await peer.readFrame())) }
            #expect(shapes == ["0 more 2", "0 end ", "1 end 3", "2 end 4", "2 more 5", "0 end ", "1 end 6"])
            #expect(await socket.queuedBytes == 0)
        }
    }

    @Test("Those who wait for their turn can be cancelled: a message in pieces isn't begun, a whole one still goes")
    func cancelledTurns() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let (gate, keeper) = AsyncStream<Void>.makeStream()
            let (begun, begin) = AsyncStream<Void>.makeStream()
            async let first: Void = socket.send(.text) { writer in
                begin.finish()
                for await _ in gate {}
                try await writer.write("1")
            }
            for await _ in begun {}
            let second = await waiting(on: socket) { socket in
                try await socket.send(.binary) { writer in try await writer.write("2") }
            }
            let third = await waiting(on: socket) { socket in try await socket.send("3") }
            second.cancel()
            third.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            await #expect(throws: CancellationError.self) { try await third.value }
            keeper.finish()
            try await first
            try await socket.send("4")
            var shapes: [String] = []
            for _ in 0..<4 { shapes.append(Self.shape(try await peer.readFrame())) }
            #expect(shapes == ["1 more 1", "0 end ", "1 end 3", "1 end 4"])
        }
    }

    @Test("A slow peer slows the writer down, who holds no more than the high-water mark and a piece")
    func backpressure() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let piece = [UInt8](repeating: 7, count: 1 << 16)
            let (written, note) = AsyncStream<Int>.makeStream()
            let sender = Task {
                try await socket.send(.binary) { writer in
                    for number in 1...320 {
                        try await writer.write(piece)
                        note.yield(number)
                    }
                }
                note.finish()
            }
            var largest = 0
            for await number in written {
                largest = max(largest, await socket.queuedBytes)
                if number == 8 { break }
            }
            var received = 0
            while true {
                let frame = try await peer.readFrame()
                received += frame.payload.count
                largest = max(largest, await socket.queuedBytes)
                if frame.isFinal { break }
            }
            try await sender.value
            #expect(received == 320 << 16)
            #expect(largest <= 3 << 16)
        }
    }

    @Test("A message that can't be completed ends the connection: 1011 for an error, 1001 for a cancellation")
    func thrown() async throws {
        for (error, code) in [(Broken() as any Error, 1_011), (CancellationError(), 1_001)] as [(any Error, UInt16)] {
            try await withClient(options: Self.quiet) { socket, peer in
                await #expect {
                    try await socket.send(.text) { writer in
                        try await writer.write("begun")
                        throw error
                    }
                } throws: {
                    type(of: $0) == type(of: error)
                }
                let frame = try await peer.readFrame()
                let close = try await peer.readFrame()
                #expect(Self.shape(frame) == "1 more begun")
                #expect(close.closeCode == code)
                await expect(.closed) { try await socket.send("no more") }
            }
        }
    }

    @Test("Before the first piece nothing has happened")
    func thrownBefore() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            await #expect(throws: Broken.self) { try await socket.send(.text) { _ in throw Broken() } }
            try await socket.send("fine")
            let frame = try await peer.readFrame()
            #expect(Self.shape(frame) == "1 end fine")
        }
    }

    @Test("A text may be cut within a character, but must be UTF-8 as a whole")
    func text() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            try await socket.send(.text) { writer in
                try await writer.write([0xE2, 0x82])
                await expect(.invalidText) { try await writer.write([0x61]) }
                try await writer.write([0xAC])
            }
            for _ in 0..<3 { _ = try await peer.readFrame() }
            await expect(.invalidText) {
                try await socket.send(.text) { writer in try await writer.write([0xE2, 0x82]) }
            }
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_011)
        }
    }

    @Test("A writer is of no use behind its message, nor behind the connection")
    func late() async throws {
        try await withMemoryClient(options: Self.quiet) { socket, peer, loop in
            let writer = try await socket.send(.text) { $0 }
            await expect(.messageEnded) { try await writer.write("late") }
            let (gate, keeper) = AsyncStream<Void>.makeStream()
            let (begun, begin) = AsyncStream<Void>.makeStream()
            let sender = Task {
                try await socket.send(.text) { writer in
                    try await writer.write("begun")
                    begin.finish()
                    for await _ in gate {}
                    try await writer.write("late")
                }
            }
            for await _ in begun {}
            let held = await waiting(on: socket) { socket in try await socket.send("held") }
            let turn = await waiting(on: socket) { socket in try await socket.send(.text) { _ in } }
            try await peer.send(.close(1_000))
            let answer = await loop.begin { try await peer.readFrame { $0.opcode == 0x8 }.closeCode }
            // The message that was begun has as long to be finished as the closing handshake may take.
            await loop.advance(by: .seconds(10))
            let code = try await answer.value
            #expect(code == 1_000)
            await peer.close()
            keeper.finish()
            await expect(.closed) { try await sender.value }
            await expect(.closed) { try await held.value }
            await expect(.closed) { try await turn.value }
        }
    }

    @Test("Compressed and not, what is written in pieces is read in pieces, of any length", arguments: [true, false])
    func both(isCompressed: Bool) async throws {
        let compression: WebSocketCompression = isCompressed ? .required : .disabled
        var options = WebSocketOptions()
        options.compression = compression
        // Or what comes back before the first ask is put together, and is too much for that.
        options.streamsMessages = true
        try await withServer { server in
            server.webSockets.compression = compression
            server.webSocket("/") { socket in
                for try await message in socket.streamedMessages {
                    try await socket.send(message.kind) { writer in
                        for try await piece in message { try await writer.write(piece) }
                    }
                }
            }
        } _: { [options] address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            for round in 0..<2 {
                async let sent: Void = client.send(.text) { writer in
                    for _ in 0..<300 { try await writer.write(String(repeating: "€ä\(round)", count: 3_000)) }
                }
                var count = 0
                var iterator = client.streamedMessages.makeAsyncIterator()
                if let message = try await iterator.next() {
                    for try await piece in message {
                        #expect(String(validating: piece, as: UTF8.self) != nil)
                        count += piece.count
                    }
                }
                try await sent
                #expect(count == 300 * 3_000 * 6)
            }
            await client.close()
        }
    }
}
