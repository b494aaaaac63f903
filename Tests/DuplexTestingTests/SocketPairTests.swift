// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
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
