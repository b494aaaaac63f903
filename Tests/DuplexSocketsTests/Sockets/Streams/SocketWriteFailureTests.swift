// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("Writing behind a send that has failed")
struct SocketWriteFailureTests {
    /// Writes pieces until one fails, all in one turn of the loop.
    private static func write(_ count: Int, to socket: isolated Socket) async -> (succeeded: Int, SocketError?) {
        let piece = [UInt8](repeating: 1, count: 65_536)
        for number in 0..<count {
            do {
                try await socket.write(piece)
            } catch {
                return (number, error as? SocketError)
            }
        }
        return (count, nil)
    }

    @Test("Every write throws at once, and none of them counts")
    func throwing() async throws {
        try await withMemoryPair { near, far, loop in
            await far.reset()
            let written = Task(executorPreference: loop) { await Self.write(1_000, to: near) }
            let (succeeded, error) = await written.value
            #expect(succeeded == 0 && error?.code == .connectionReset)
            #expect(await near.bytesSent == 0)
            await #expect(throws: SocketError.self) { try await near.write([[1], [2]]) }
        }
    }

    @Test("A write that waited for room when the peer reset has been accepted, and counts")
    func throwingAfterWaiting() async throws {
        try await withMemoryPair { near, far, loop in
            let piece = [UInt8](repeating: 1, count: 8 * 1_024 * 1_024)
            let written = Task(executorPreference: loop) { try await near.write(piece) }
            _ = try await far.read(upTo: 1)
            await far.reset()
            await #expect(throws: SocketError.self) { try await written.value }
            #expect(await near.bytesSent == UInt64(piece.count))
        }
    }

    @Test("Also where the peer's reset comes between two writes of a turn, over TCP")
    func throwingOverTCP() async throws {
        try await withPair { near, far in
            await far.reset()
            let written = Task(executorPreference: near.loop) { await Self.write(10_000, to: near) }
            let (succeeded, error) = await written.value
            // The first may be taken by the system before it knows of the reset, and the last may have waited for room.
            #expect(succeeded < 100 && error != nil)
            let counted = await near.bytesSent
            #expect(counted <= UInt64(succeeded + 1) * 65_536)
            await #expect(throws: SocketError.self) { try await near.write([1]) }
            #expect(await near.bytesSent == counted)
        }
    }
}
