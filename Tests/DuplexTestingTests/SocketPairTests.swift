// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Two connected sockets in memory")
struct SocketPairTests {
    @Test("What one writes the other reads, and the end behind it")
    func talking() async throws {
        let pair = await SocketPair()
        try await pair.client.write("question\n")
        #expect(try await pair.server.readLine() == "question")
        try await pair.server.write("answer\n")
        await pair.server.close()
        #expect(try await pair.client.readLine() == "answer")
        #expect(try await pair.client.readLine() == nil)
        await pair.client.close()
    }

    @Test("The client's address is what the pair pretends")
    func address() async throws {
        let address = try SocketAddress("192.0.2.7", port: 4_242)
        let pair = await SocketPair(address: address)
        #expect(pair.server.remoteAddress == address && pair.client.localAddress == address)
        await pair.client.reset()
        await pair.server.reset()
    }

    @Test("A writer waits for a reader that takes nothing, and goes on when it does")
    func backpressure() async throws {
        try await TestLoop.run { loop in
            let pair = await SocketPair(on: loop.group, capacity: .kibibytes(64))
            let write = await loop.begin { try await pair.client.write([UInt8](repeating: 1, count: 1 << 20)) }
            #expect(await pair.client.queuedBytes == (1 << 20) - 65_536)
            #expect(try await pair.server.read(exactly: 1 << 20).count == 1 << 20)
            try await write.value
            await pair.client.close()
            await pair.server.close()
        }
    }
}

@Suite("Two connected WebSockets in memory")
struct WebSocketPairTests {
    @Test("Messages go both ways, and either side closes", arguments: [true, false])
    func talking(isClient: Bool) async throws {
        let pair = await WebSocketPair(subprotocol: "chat")
        #expect(pair.client.subprotocol == "chat" && pair.server.subprotocol == "chat")
        try await pair.client.send("hello")
        #expect(try await pair.server.receive() == .text("hello"))
        try await pair.server.send([1, 2, 3])
        #expect(try await pair.client.receive() == .binary([1, 2, 3]))
        let closer = isClient ? pair.client : pair.server
        #expect(await closer.close(code: .goingAway).isClean)
        #expect(await pair.client.closeReport.isClean)
    }

    @Test("Messages arrive whole in pieces of one byte")
    func split() async throws {
        let pair = await WebSocketPair(faults: .split(every: 1))
        try await pair.client.send(String(repeating: "ä", count: 300))
        #expect(try await pair.server.receive() == .text(String(repeating: "ä", count: 300)))
        await pair.client.close()
    }

    @Test("A peer that is silent after a ping is given up when the timeout has passed")
    func pings() async throws {
        try await TestLoop.run { loop in
            var options = WebSocketOptions()
            options.pings = .every(.seconds(20), timeout: .seconds(10))
            let pair = await WebSocketPair(options: options, on: loop.group, faults: .stall(in: .toServer))
            let read = await loop.begin { try await pair.client.receive() }
            await loop.advance(by: .seconds(29))
            #expect(await pair.client.state == .open)
            await loop.advance(by: .seconds(11))
            await #expect(throws: WebSocketError.self) { try await read.value }
            #expect(await pair.client.closeReport.error?.code == .pingTimeout)
            await pair.server.reset()
            await loop.advance(by: .seconds(60))
        }
    }
}
