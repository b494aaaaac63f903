// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct WebSocketReceivingTests {
    private func withEcho(_ body: @escaping @Sendable (RawPeer) async throws -> Void) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            try await body(peer)
        }
    }

    /// Sends numbered messages until the system and the other side take no more.
    ///
    /// - Returns: how many were sent, the last of which may still wait on this side.
    private func flood(_ peer: RawPeer, size: Int) async throws -> Int {
        var count = 0
        await #expect {
            while true {
                let number = [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
                count += 1
                let frame = peer.encoded(.binary(number + [UInt8](repeating: 7, count: size)))
                try await peer.socket.write(frame, timeout: .milliseconds(100))
            }
        } throws: {
            ($0 as? SocketError)?.code == .timedOut
        }
        return count
    }

    @Test("A message in fragments arrives as one, with control frames between them answered at once")
    func fragments() async throws {
        try await withClient { socket, peer in
            try await peer.send(
                .text("one, ", isFinal: false),
                .ping([1]),
                .continuation(Array("two, ".utf8), isFinal: false)
            )
            #expect(try await peer.readFrame().opcode == 0xA)
            try await peer.send(.continuation([]), .binary([1, 2]))
            #expect(try await socket.receive() == "one, two, ")
            #expect(try await socket.receive() == .binary([1, 2]))
        }
    }

    @Test("Messages that come byte by byte arrive whole")
    func byteByByte() async throws {
        try await withClient { socket, peer in
            let frames = [RawFrame.text("ä€𐍈"), .ping([9]), .binary([UInt8](repeating: 3, count: 300)), .text("")]
            try await peer.sendByteByByte(frames.flatMap { peer.encoded($0) })
            #expect(try await socket.receive() == "ä€𐍈")
            #expect(try await socket.receive() == .binary([UInt8](repeating: 3, count: 300)))
            #expect(try await socket.receive() == "")
        }
    }

    @Test("A second task that receives is refused, and the first gets the message")
    func secondReceiver() async throws {
        try await withClient { socket, peer in
            let first = await waiting(on: socket) { socket in try await socket.receive() }
            await expect(.alreadyReceiving) { try await socket.receive() }
            try await peer.send(.text("for the first"))
            #expect(try await first.value == "for the first")
        }
    }

    @Test("Of many tasks that receive at once, each gets a message or is refused, and no message is lost")
    func manyReceivers() async throws {
        try await withClient { socket, peer in
            let results = await withTaskGroup(of: Result<Message, any Error>.self) { group in
                for _ in 0..<20 { group.addTask { await Self.result { try await socket.receive() } } }
                group.addTask { await Self.result { try await Self.sent(by: peer) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let received = results.compactMap { try? $0.get() }.filter { $0 != "sent" }
            for case .failure(let error) in results { #expect((error as? WebSocketError)?.code == .alreadyReceiving) }
            var rest: [Message] = []
            while received.count + rest.count < 20 { rest.append(try await socket.receive()) }
            #expect(Set((received + rest).map(\.description)) == Set((0..<20).map { "\($0)" }))
        }
    }

    private static func result(_ body: () async throws -> Message) async -> Result<Message, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    private static func sent(by peer: RawPeer) async throws -> Message {
        try await peer.send((0..<20).map { .text("\($0)") })
        return "sent"
    }

    @Test("Cancelling a task that waits to receive ends the wait at once, and nothing is lost")
    func cancelled() async throws {
        try await withClient { socket, peer in
            let receiver = await waiting(on: socket) { socket in try await socket.receive() }
            receiver.cancel()
            await #expect(throws: CancellationError.self) { try await receiver.value }
            try await peer.send(.text("kept"))
            #expect(try await socket.receive() == "kept")
        }
    }

    @Test("Cancelling at any moment loses no message")
    func cancelledAnyTime() async throws {
        try await withClient { socket, peer in
            var received: [Message] = []
            for number in 0..<200 {
                let receiver = Task { try await socket.receive() }
                try await peer.send(.text("\(number)"))
                receiver.cancel()
                if case .success(let message) = await receiver.result { received.append(message) }
            }
            while received.count < 200 { received.append(try await socket.receive()) }
            #expect(received == (0..<200).map { .text("\($0)") })
        }
    }

    @Test("A task that is cancelled already gets no further message")
    func cancelledBefore() async throws {
        try await withClient { socket, _ in
            let receiver = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await socket.receive()
            }
            await #expect(throws: CancellationError.self) { try await receiver.value }
            #expect(await socket.state == .open)
        }
    }

    @Test(
        "An app that doesn't receive slows its peer down in bounded memory, and gets everything in the end",
        arguments: [
            1_000, 30_000, 300_000,
        ]
    )
    func backpressure(size: Int) async throws {
        try await withClient { socket, peer in
            let sent = try await flood(peer, size: size)
            let held = await socket.snapshot.inboxBytes
            #expect(await socket.snapshot.inboxMessages <= MessageLimits.internet.inboxMessages)
            #expect(held < MessageLimits.internet.inboxBytes.bytes + size + 2)
            #expect(await socket.restCount <= WebSocket.queuedReceiveLimit)
            for number in 0..<sent {
                guard case .binary(let bytes) = try await socket.receive() else { break }
                #expect(Int(bytes[0]) << 8 | Int(bytes[1]) == number & 0xFFFF)
                #expect(bytes.count == size + 2)
            }
            try await peer.send(.text("on"))
            #expect(try await socket.receive() == "on")
        }
    }

    /// Echoes within the loop's turn, whatever waits.
    private struct Echo: WebSocketHandler {
        let sockets: AsyncStream<WebSocket>.Continuation

        func opened(_ socket: isolated WebSocket) { sockets.yield(socket) }

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    @Test(
        "What waits for a client that doesn't read counts against what it may send",
        arguments: [1_000, 60_000],
        [false, true]
    )
    func neverReading(size: Int, isSynchronous: Bool) async throws {
        let (sockets, opened) = AsyncStream<WebSocket>.makeStream()
        try await withMemoryServer { server in
            if isSynchronous {
                server.webSocket("/", handler: Echo(sockets: opened))
            } else {
                server.webSocket("/") { socket in
                    opened.yield(socket)
                    for try await message in socket.messages { try await socket.send(message) }
                }
            }
        } _: { server in
            let peer = await server.connect()
            #expect(try await peer.response(to: RawPeer.upgradeRequest()).status == 101)
            let flooding = await server.loop.begin { try await flood(peer, size: size) }
            await server.loop.advance(by: .milliseconds(100))
            let sent = try await flooding.value
            #expect(sent > 1)
            for await socket in sockets {
                let (snapshot, carried) = await Self.held(by: socket)
                // A whole receive may be answered above the mark.
                let most = 64 * 1_024 + WebSocket.queuedReceiveLimit + (isSynchronous ? ReceiveBuffer.size : size)
                #expect(snapshot.queuedBytes + snapshot.inboxBytes + carried < most)
                break
            }
            await peer.reset()
        }
    }

    private static func held(by socket: isolated WebSocket) -> (WebSocketSnapshot, Int) {
        (socket.snapshot, socket.restCount)
    }

    @Test("A flood of frames is parsed over many turns of the loop, in its order", arguments: [false, true])
    func crowdedTurn(isSynchronous: Bool) async throws {
        let group = try EventLoopGroup(loops: 1)
        let (_, opened) = AsyncStream<WebSocket>.makeStream()
        try await withClient(on: group, handler: isSynchronous ? Echo(sockets: opened) : nil) { socket, peer in
            let (counts, counted) = AsyncStream<Int>.makeStream()
            count(on: socket, counted)
            let pongs = [[UInt8]](repeating: [0x8A, 0], count: 20_000).flatMap(\.self)
            try await peer.send(pongs + peer.encoded(.text("1")) + pongs + peer.encoded(.text("2")))
            if isSynchronous {
                #expect(try await peer.readFrame().text == "1")
                #expect(try await peer.readFrame().text == "2")
            } else {
                #expect(try await socket.receive() == "1")
                #expect(try await socket.receive() == "2")
            }
            #expect(await socket.snapshot.counts.controlFramesReceived == 40_000)
            counted.finish()
            var (before, most) = (0, 0)
            for await count in counts { (before, most) = (count, max(most, count - before)) }
            // What is left of a turn's is parsed at its end.
            #expect(most <= 2 * Int(SessionSettings.framesPerTurn))
            await socket.reset()
        }
        await group.stop()
    }

    /// Tells in each turn of the loop how many frames were parsed.
    private func count(on socket: WebSocket, _ counted: AsyncStream<Int>.Continuation) {
        socket.loop.execute { _ in
            let frames = socket.assumeIsolated { $0.snapshot.counts.controlFramesReceived }
            if case .terminated = counted.yield(frames) { return }
            self.count(on: socket, counted)
        }
    }

    @Test("Pings don't end a connection whose app doesn't receive")
    func pingsWithoutReading() async throws {
        var options = WebSocketOptions()
        options.pings = .every(.milliseconds(200), timeout: .seconds(2))
        try await withMemoryClient(options: options) { socket, peer, loop in
            let flood = Task {
                try await peer.send((0..<40).map { _ in .binary([UInt8](repeating: 7, count: 100_000)) })
            }
            // What is kept has found no room in the inbox: nothing more is read.
            while await socket.restCount == 0 { await Task.yield() }
            // More than the timeout, during which pongs would lie behind what the app doesn't take.
            for _ in 0..<12 {
                await loop.advance(by: .milliseconds(200))
                #expect(try await peer.readFrame().opcode == 0x9)
            }
            #expect(await socket.state == .open)
            for _ in 0..<40 { _ = try await socket.receive() }
            try await flood.value
        }
    }

    @Test("Pings fail a connection whose peer stays silent, with 1011")
    func pingTimeout() async throws {
        var options = WebSocketOptions()
        options.pings = .every(.milliseconds(20), timeout: .milliseconds(20))
        try await withClient(options: options) { socket, peer in
            await #expect {
                try await socket.receive()
            } throws: {
                let error = $0 as? WebSocketError
                return error?.code == .protocolViolation && error?.closeReport?.error?.code == .pingTimeout
            }
            let frame = try await peer.readFrame { $0.opcode != 0x9 }
            #expect(frame.closeCode == 1_011)
        }
    }

    @Test("A peer that pings and doesn't read makes nothing grow, and the pong it reads last answers its last ping")
    func pingFlood() async throws {
        // A ping of this side's own would be the last frame where the machine is slow.
        var options = WebSocketOptions()
        options.pings = .disabled
        try await withClient(options: options) { socket, peer in
            let burst = (0..<2_000).map { _ in RawFrame.ping([UInt8](repeating: 1, count: 125)) }
            let bytes = burst.flatMap { peer.encoded($0) }
            while await socket.queuedBytes < 64 * 1_024 { try await peer.send(bytes) }
            for _ in 0..<20 { try await peer.send(bytes) }
            try await peer.send(.ping([99]), .text("done"))
            #expect(try await socket.receive() == "done")
            #expect(await socket.queuedBytes < 65 * 1_024)
            let last = try await peer.readFrame { $0.opcode != 0xA || $0.payload.count != 125 }
            #expect(last.opcode == 0xA)
            #expect(last.payload == [99])
        }
    }

    @Test("Messages before a violation are received and answered, then the close frame says what it was")
    func violationBehindMessages() async throws {
        try await withEcho { peer in
            let bad = peer.encoded(RawFrame(0x3, [1]))
            try await peer.send(peer.encoded(.text("a")) + peer.encoded(.text("b")) + bad)
            #expect(try await peer.readFrame().text == "a")
            #expect(try await peer.readFrame().text == "b")
            #expect(try await peer.readFrame().closeCode == 1_002)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("Messages before the peer's close are received and answered, then the close is")
    func closeBehindMessages() async throws {
        try await withEcho { peer in
            try await peer.send(.text("a"), .text("b"), .close(4_321, "done"))
            #expect(try await peer.readFrame().text == "a")
            #expect(try await peer.readFrame().text == "b")
            #expect(try await peer.readFrame().closeCode == 4_321)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("Messages before the end of the stream are received, then the loss is told")
    func endOfStreamBehindMessages() async throws {
        try await withClient { socket, peer in
            try await peer.send((0..<40).map { .text("\($0)") })
            await peer.finishWriting()
            for number in 0..<40 { #expect(try await socket.receive() == .text("\(number)")) }
            await expect(.connectionLost) { try await socket.receive() }
        }
    }

    @Test("A violation is told to the one who receives, again and again")
    func violation() async throws {
        try await withClient { socket, peer in
            try await peer.send(RawFrame(0x1, [0xFF]))
            for _ in 0..<2 {
                await #expect {
                    try await socket.receive()
                } throws: {
                    (($0 as? WebSocketError)?.cause as? WebSocketProtocolError)?.code == .invalidUTF8
                }
            }
            #expect(await socket.closeReport.error?.code == .invalidUTF8)
            #expect(try await peer.readFrame().closeCode == 1_007)
        }
    }
}

extension WebSocket {
    /// How many bytes have come and aren't parsed.
    fileprivate var restCount: Int { inbox.restBytes.count }
}
