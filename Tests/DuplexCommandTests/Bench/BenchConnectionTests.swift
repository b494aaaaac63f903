// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexCommand

@Suite("One connection of a load", .timeLimit(minutes: 1))
struct BenchConnectionTests {
    /// Loads a server with that handler until the connection's part has ended.
    ///
    private static func load(
        depth: Int = 3,
        _ handler: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) async throws -> (end: BenchConnection.End?, recorded: Int) {
        let hasEnded = Atomic(false)
        return try await withWebSocketServer(handler) { url in
            let stage = BenchStage()
            stage.name = .measuring
            let recorder = BenchRecorder()
            let recorders = EventLoopGroup.shared.loops.map { (ObjectIdentifier($0), recorder) }
            let (ends, input) = AsyncStream<BenchConnection.End>.makeStream()
            let connection = BenchConnection(
                payload: BenchPayload(size: 16, kind: .binary, seed: 1),
                depth: depth,
                stage: stage,
                recorders: Dictionary(uniqueKeysWithValues: recorders)
            ) { end in
                hasEnded.store(true, ordering: .relaxed)
                input.yield(end)
            }
            let socket = try await WebSocket.connect(to: url, handler: connection)
            while recorder.count < 100 && !hasEnded.load(ordering: .relaxed) { await Task.yield() }
            stage.name = .draining
            let end = await ends.first { _ in true }
            await socket.close()
            return (end, recorder.count)
        }
    }

    @Test("Against an echo it goes on until it is drained, and every latency is recorded", arguments: [1, 3, 50])
    func echoes(depth: Int) async throws {
        let result = try await Self.load(depth: depth) { try await echo($0) }
        #expect(result.end == .complete)
        #expect(result.recorded >= 100)
    }

    @Test("An echo with another byte fails it")
    func changed() async throws {
        let result = try await Self.load { socket in
            for try await message in socket.messages {
                guard case .binary(var bytes) = message else { return }
                bytes[15] ^= 1
                try await socket.send(bytes)
            }
        }
        #expect(result.end == .failed(BenchPayload.Mismatch.content.description))
        #expect(result.recorded == 0)
    }

    @Test("Echoes in another order fail it")
    func reordered() async throws {
        let result = try await Self.load { socket in
            let first = try await socket.receive()
            try await socket.send(try await socket.receive())
            try await socket.send(first)
            try await listen(socket)
        }
        #expect(result.end == .failed(BenchPayload.Mismatch.order(expected: 0, got: 1).description))
    }

    @Test("A message too many fails it")
    func doubled() async throws {
        let result = try await Self.load { socket in
            let message = try await socket.receive()
            for _ in 1...2 { try await socket.send(message) }
            try await listen(socket)
        }
        guard case .failed = result.end else {
            Issue.record("It ended with \(String(describing: result.end)).")
            return
        }
    }

    @Test("A connection that the server closes fails it")
    func closed() async throws {
        let result = try await Self.load { _ = try await $0.receive() }
        guard case .failed(let reason) = result.end else {
            Issue.record("It ended with \(String(describing: result.end)).")
            return
        }
        #expect(reason.hasPrefix("A connection ended: "))
    }
}
