// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 5)) struct SocketClosingTests {
    /// Starts a read that waits; comes back once it does.
    private static func startReading(_ socket: Socket) async -> Task<String?, any Error> {
        let count = await socket.waitingReads
        let reader = Task { try await socket.readLine() }
        while await socket.waitingReads == count { await Task.yield() }
        return reader
    }

    /// Starts a write of more than the connection holds; comes back once it waits.
    private static func startWriting(_ socket: Socket, _ bytes: [UInt8]) async -> Task<Void, any Error> {
        let writer = Task { try await socket.write(bytes) }
        while await socket.waitingWrites == 0 { await Task.yield() }
        return writer
    }

    private static func read(_ socket: Socket, _ count: Int) async throws {
        #expect(try await socket.read(exactly: count, timeout: .limit(seconds: 60)).count == count)
        #expect(try await socket.read(timeout: .limit(seconds: 60)) == nil)
    }

    @Test("The reads that wait are served, then it closes; nothing new is taken")
    func afterReading() async throws {
        try await withPair { near, far in
            let first = await Self.startReading(near)
            let second = await Self.startReading(near)
            await near.closeAfterReading()
            #expect(await errorCode { _ = try await near.read() } == .closed)
            #expect(await errorCode { try await near.write("new") } == .closed)
            try await far.write("one\n")
            #expect(try await first.value == "one")
            try await far.write("two\nthree\n")
            #expect(try await second.value == "two")
            #expect(try await far.read(timeout: .limit(seconds: 60)) == nil)
        }
    }

    @Test("A read that fails is done, too")
    func failedRead() async throws {
        try await withPair { near, far in
            let reader = await Self.startReading(near)
            await near.closeAfterReading()
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            let rest = try await far.read(timeout: .limit(seconds: 60))
            #expect(rest == nil)
        }
    }

    @Test("The writes that wait are done, then it closes; reads that wait fail")
    func afterWriting() async throws {
        try await withPair { near, far in
            let reader = await Self.startReading(near)
            let bytes = [UInt8](repeating: 1, count: 20_000_000)
            let writer = await Self.startWriting(near, bytes)
            await near.closeAfterWriting()
            #expect(await errorCode { try await near.write("new") } == .closed)
            #expect(await errorCode { try await near.writeFile("/dev/null") } == .closed)
            #expect(await errorCode { _ = try await near.peek(1) } == .closed)
            try await Self.read(far, bytes.count)
            try await writer.value
            #expect(await errorCode { _ = try await reader.value } == .closed)
        }
    }

    @Test("A file that is on its way is written to its end")
    func afterFile() async throws {
        try await TestFile.withLarge { file, size in
            try await withPair { near, far in
                let (stream, continuation) = AsyncStream<UInt64>.makeStream()
                let writer = Task { try await near.writeFile(file.path, progress: { continuation.yield($0) }) }
                for await _ in stream { break }
                await near.closeAfterWriting()
                try await Self.read(far, Int(size))
                #expect(try await writer.value == size)
            }
        }
    }

    @Test("Both are waited for, in whichever order they are asked for", arguments: [0, 1, 2])
    func afterBoth(way: Int) async throws {
        try await withPair { near, far in
            let reader = await Self.startReading(near)
            let bytes = [UInt8](repeating: 1, count: 20_000_000)
            let writer = await Self.startWriting(near, bytes)
            if way == 0 {
                await near.closeAfterReadingAndWriting()
            } else if way == 1 {
                await near.closeAfterReading()
                await near.closeAfterWriting()
            } else {
                await near.closeAfterWriting()
                await near.closeAfterReading()
            }
            #expect(try await far.read(exactly: bytes.count, timeout: .limit(seconds: 60)).count == bytes.count)
            try await writer.value
            try await far.write("still read\n")
            #expect(try await reader.value == "still read")
            #expect(try await far.read(timeout: .limit(seconds: 60)) == nil)
        }
    }

    @Test("With nothing that waits it closes at once, and what was written still goes out", arguments: [0, 1, 2])
    func atOnce(way: Int) async throws {
        try await withPair { near, far in
            try await near.write("last")
            switch way {
            case 0: await near.closeAfterReading()
            case 1: await near.closeAfterWriting()
            default: await near.closeAfterReadingAndWriting()
            }
            try await Self.read(far, 4)
            #expect(await errorCode { try await near.write("new") } == .closed)
        }
    }
}
