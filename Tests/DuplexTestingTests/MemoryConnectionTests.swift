// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import Testing

@Suite("What goes wrong between the ends of a connection in memory")
struct MemoryConnectionTests {
    private func withPair(_ faults: Faults, _ body: (TestLoop, SocketPair) async throws -> Void) async throws {
        try await TestLoop.run { loop in
            let pair = await SocketPair(on: loop.group, faults: faults)
            try await body(loop, pair)
            await pair.client.reset()
            await pair.server.reset()
        }
    }

    @Test("Bytes arrive in pieces")
    func split() async throws {
        try await withPair(.split(every: 2)) { _, pair in
            try await pair.client.write([1, 2, 3, 4, 5])
            for piece: [UInt8] in [[1, 2], [3, 4], [5]] { #expect(try await pair.server.read() == piece) }
            #expect(pair.connection.received(.toServer) == 5)
        }
    }

    @Test("The connection is reset behind some bytes, for both sides")
    func reset() async throws {
        try await withPair(.reset(after: 3, in: .toServer)) { _, pair in
            try await pair.client.write([1, 2, 3, 4, 5])
            #expect(try await pair.server.read() == [1, 2, 3])
            for socket in [pair.server, pair.client] {
                let error = await #expect(throws: SocketError.self) { try await socket.read() }
                #expect(error?.code == .connectionReset)
            }
        }
    }

    @Test("The stream ends behind some bytes, and the other way stays open")
    func end() async throws {
        try await withPair(.end(after: 3, in: .toServer)) { _, pair in
            try await pair.client.write([1, 2, 3, 4, 5])
            #expect(try await pair.server.read() == [1, 2, 3])
            #expect(try await pair.server.read() == nil)
            try await pair.server.write([6])
            #expect(try await pair.client.read() == [6])
        }
    }

    @Test("Bytes are held back until they are released")
    func stall() async throws {
        try await withPair(.stall(after: 1)) { loop, pair in
            try await pair.client.write([1, 2, 3, 4])
            #expect(try await pair.server.read() == [1])
            let read = await loop.begin { try await pair.server.read() }
            await loop.advance(by: .seconds(3_600))
            #expect(pair.connection.received(.toServer) == 1)
            pair.connection.release(.toServer, bytes: 2)
            #expect(try await read.value == [2, 3])
            pair.connection.release()
            #expect(try await pair.server.read() == [4])
        }
    }

    @Test("A slow reader gets so much in each interval")
    func slow() async throws {
        try await withPair(.slow(10, every: .seconds(1), in: .toServer)) { loop, pair in
            try await pair.client.write([UInt8](repeating: 1, count: 35))
            let read = await loop.begin { try await pair.server.read(exactly: 35) }
            for count in [10, 20, 30] {
                #expect(pair.connection.received(.toServer) == count)
                await loop.advance(by: .seconds(1))
            }
            #expect(try await read.value.count == 35)
        }
    }

    @Test("Faults may begin later, and the connection be reset at any time")
    func later() async throws {
        try await withPair(.none) { _, pair in
            try await pair.client.write([1])
            #expect(try await pair.server.read() == [1])
            pair.connection.setFaults(.split(every: 1, in: .toServer))
            try await pair.client.write([2, 3])
            #expect(try await pair.server.read() == [2])
            pair.connection.reset()
            await #expect(throws: SocketError.self) { try await pair.client.read() }
        }
    }
}
