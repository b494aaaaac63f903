// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct WebSocketSendingTests {
    @Test(
        "A message of any length comes back whole, as text and as bytes",
        arguments: [
            0, 1, 2, 125, 126, 127, 16_383, 16_384, 65_535, 65_536, 131_072, 1 << 20, 16 << 20,
        ]
    )
    func lengths(length: Int) async throws {
        var options = WebSocketOptions()
        options.limits = .local
        try await withServer { server in
            server.limits = .local
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { [options] address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            let bytes = [UInt8](repeating: 0xA7, count: max(0, length - 1)) + (length == 0 ? [] : [0x01])
            let text = String(repeating: "z", count: length)
            try await client.send(bytes)
            try await client.send(text)
            #expect(try await client.receive() == .binary(bytes))
            #expect(try await client.receive() == .text(text))
            #expect(await client.close().isClean)
        }
    }

    @Test("Text of several bytes a character comes back whole")
    func unicode() async throws {
        try await withPair { client, server in
            let text = String(repeating: "ÿ€𐍈👩🏽‍🚀", count: 5_000)
            try await client.send(text)
            #expect(try await server.receive() == .text(text))
        }
    }

    @Test("Messages of many tasks stay whole, and those of each task in order")
    func manySenders() async throws {
        try await withPair { client, server in
            let tasks = 4
            let each = 40
            async let sending: Void = withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for number in 0..<each {
                            // Some are longer than what is sent without waiting.
                            let size = number % 3 == 0 ? 100_000 : number
                            try await client.send(
                                [UInt8(task), UInt8(number)] + [UInt8](repeating: UInt8(task), count: size)
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            var next = [Int](repeating: 0, count: tasks)
            for _ in 0..<(tasks * each) {
                guard case .binary(let bytes) = try await server.receive() else { break }
                let task = Int(bytes[0])
                #expect(Int(bytes[1]) == next[task])
                #expect(bytes.count == 2 + (next[task] % 3 == 0 ? 100_000 : next[task]))
                #expect(bytes.dropFirst(2).allSatisfy { Int($0) == task })
                next[task] += 1
            }
            try await sending
            #expect(next == [Int](repeating: each, count: tasks))
        }
    }

    @Test("A peer that doesn't read holds the sender back, and gets everything in the end")
    func backpressure() async throws {
        try await withClient { socket, peer in
            await fillOutput(of: socket)
            let sender = await waiting(on: socket) { socket in try await socket.send("behind all that") }
            let waiting = await socket.queuedBytes
            #expect(waiting > 1 << 20)
            var frame = try await peer.readFrame()
            while frame.opcode == 0x2 {
                #expect(frame.payload.count == 1 << 20)
                frame = try await peer.readFrame()
            }
            #expect(frame.text == "behind all that")
            try await sender.value
        }
    }

    @Test("Cancelling a task that waits to send ends the wait at once, and its message still goes out")
    func cancelledSend() async throws {
        try await withClient { socket, peer in
            await fillOutput(of: socket)
            let sender = await waiting(on: socket) { socket in try await socket.send("taken over") }
            sender.cancel()
            await #expect(throws: CancellationError.self) { try await sender.value }
            let frame = try await peer.readFrame { $0.opcode != 0x2 }
            #expect(frame.text == "taken over")
            #expect(await socket.state == .open)
        }
    }

    @Test("A task that waits to send is told when the connection is lost")
    func lostWhileSending() async throws {
        try await withClient { socket, peer in
            await fillOutput(of: socket)
            let sender = await waiting(on: socket) { socket in try await socket.send("lost") }
            await peer.reset()
            await expect(.connectionLost) { try await sender.value }
            await expect(.connectionLost) { try await socket.send("more") }
        }
    }

    @Test("Nothing is sent after the close frame")
    func afterClose() async throws {
        try await withClient { socket, peer in
            let closing = await waiting(on: socket) { socket in await socket.close() }
            await expect(.closed) { try await socket.send("late") }
            await expect(.closed) { _ = try await socket.ping() }
            await enqueue([1], on: socket)
            #expect(try await peer.readFrame().closeCode == 1_000)
            try await peer.send(.close(1_000))
            #expect(try await peer.isAtEnd())
            await peer.close()
            #expect(try await closing.value.isClean)
            await expect(.closed) { try await socket.send("later") }
        }
    }

    @Test("Enqueuing says whether what waits is below the high-water mark")
    func enqueuing() async throws {
        try await withClient { socket, peer in
            #expect(await enqueue([1, 2, 3], on: socket))
            let frame = try await peer.readFrame()
            #expect(frame.payload == [1, 2, 3])
            await fillOutput(of: socket)
            #expect(await !enqueue([4], on: socket))
        }
    }

    // MARK: Pings

    @Test("A ping returns the round trip")
    func roundTrip() async throws {
        try await withPair { client, server in
            let roundTrips = [try await client.ping(), try await server.ping()]
            #expect(roundTrips.allSatisfy { $0 > .zero && $0 < .seconds(20) })
        }
    }

    @Test("A ping that isn't answered times out alone")
    func timeout() async throws {
        try await withClient { socket, peer in
            await expect(.timedOut) { _ = try await socket.ping(timeout: .milliseconds(20)) }
            let late = try await peer.readFrame()
            try await peer.send(.pong(late.payload), .text("still here"))
            #expect(try await socket.receive() == "still here")
            let ping = await waiting(on: socket) { socket in try await socket.ping() }
            try await peer.send(.pong(try await peer.readFrame().payload))
            #expect(try await ping.value > .zero)
        }
    }

    @Test("A pong answers its ping and those before it, and not those after")
    func severalPings() async throws {
        try await withClient { socket, peer in
            let pings = [
                await waiting(on: socket) { try await $0.ping() },
                await waiting(on: socket) { try await $0.ping() },
                await waiting(on: socket) { try await $0.ping(timeout: .milliseconds(50)) },
            ]
            _ = try await peer.readFrame()
            try await peer.send(.pong(try await peer.readFrame().payload))
            #expect(try await pings[0].value > .zero)
            #expect(try await pings[1].value > .zero)
            await expect(.timedOut) { _ = try await pings[2].value }
        }
    }

    @Test(
        "A pong that nobody asked for is ignored",
        arguments: [[], [1, 2, 3], [0, 0, 0, 0, 0, 0, 0, 99]] as [[UInt8]]
    )
    func unaskedPong(payload: [UInt8]) async throws {
        try await withClient { socket, peer in
            let ping = await waiting(on: socket) { try await $0.ping(timeout: .milliseconds(50)) }
            try await peer.send(.pong(payload), .text("on"))
            #expect(try await socket.receive() == "on")
            await expect(.timedOut) { _ = try await ping.value }
        }
    }

    @Test("Cancelling a task that waits for a pong ends the wait at once")
    func cancelled() async throws {
        try await withClient { socket, peer in
            let ping = await waiting(on: socket) { socket in try await socket.ping() }
            ping.cancel()
            await #expect(throws: CancellationError.self) { _ = try await ping.value }
            try await peer.send(.pong(try await peer.readFrame().payload), .text("on"))
            #expect(try await socket.receive() == "on")
        }
    }

    @Test("A task that waits for a pong is told when the connection ends")
    func ended() async throws {
        try await withClient { socket, peer in
            let lost = await waiting(on: socket) { socket in try await socket.ping() }
            await peer.reset()
            await expect(.connectionLost) { _ = try await lost.value }
        }
        try await withPair { client, server in
            let closed = await waiting(on: client) { socket in try await socket.ping() }
            await server.close()
            // The pong may have come first.
            if case .failure(let error) = await closed.result { #expect((error as? WebSocketError)?.code == .closed) }
            await expect(.closed) { _ = try await client.ping() }
        }
    }
}
