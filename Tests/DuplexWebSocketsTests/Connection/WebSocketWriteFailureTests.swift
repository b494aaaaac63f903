// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("Sending behind a write that has failed")
struct WebSocketWriteFailureTests {
    /// Resets the connection, and sends in the same turn of the loop, before anybody was told.
    private static func send(
        from socket: isolated WebSocket,
        over connection: MemoryConnection,
        _ send: (isolated WebSocket) async throws -> Void
    ) async -> (succeeded: Int, error: WebSocketError?, counts: SessionCounts) {
        connection.reset()
        for number in 0..<100 {
            do {
                try await send(socket)
            } catch {
                return (number, error as? WebSocketError, socket.snapshot.counts)
            }
        }
        return (100, nil, socket.snapshot.counts)
    }

    private func expectFailure(
        _ send: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) async throws {
        try await TestLoop.run { loop in
            let pair = await WebSocketPair(on: loop.group)
            let sending = await loop.begin { await Self.send(from: pair.server, over: pair.connection, send) }
            let result = try await sending.value
            #expect(result.succeeded == 0 && result.error?.code == .connectionLost)
            #expect((result.error?.cause as? SocketError)?.code == .connectionReset)
            #expect(result.counts.messagesSent == 0 && result.counts.bytesSent == 0)
            #expect(await pair.server.state == .closed)
        }
    }

    @Test("Every send throws at once, and none counts as sent")
    func messages() async throws {
        let bytes = [UInt8](repeating: 1, count: 65_536)
        try await expectFailure { try await $0.send(bytes) }
        try await expectFailure { try await $0.send(String(decoding: bytes, as: UTF8.self)) }
    }

    @Test("So does one of a prepared message")
    func prepared() async throws {
        let message = PreparedMessage(.binary([UInt8](repeating: 1, count: 65_536)))
        try await expectFailure { try await $0.send(message) }
    }

    @Test("A synchronous handler is told to hold back, and the end comes by itself")
    func enqueueing() async throws {
        try await TestLoop.run { loop in
            let pair = await WebSocketPair(on: loop.group)
            let sending = await loop.begin { await Self.enqueue(on: pair.server, over: pair.connection) }
            let (accepted, counts) = try await sending.value
            #expect(accepted == 0 && counts.messagesSent == 0)
            await #expect(throws: WebSocketError.self) { try await pair.server.receive() }
        }
    }

    private static func enqueue(
        on socket: isolated WebSocket,
        over connection: MemoryConnection
    ) async -> (accepted: Int, counts: SessionCounts) {
        connection.reset()
        let bytes = [UInt8](repeating: 1, count: 65_536)
        let accepted = (0..<100).count { _ in socket.enqueue(bytes.span.raw, .binary) }
        return (accepted, socket.snapshot.counts)
    }
}
