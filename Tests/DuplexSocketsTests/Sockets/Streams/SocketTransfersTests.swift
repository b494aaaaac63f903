// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Glibc
import Synchronization
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 5)) struct SocketTransfersTests {
    /// A stream of how far a write has come, and what tells it.
    private static func progress() -> (AsyncStream<UInt64>, WriteProgress) {
        let (stream, continuation) = AsyncStream<UInt64>.makeStream()
        return (stream, { written in continuation.yield(written) })
    }

    private static func first(_ stream: AsyncStream<UInt64>) async -> UInt64? {
        for await value in stream { return value }
        return nil
    }

    @Test("A file comes behind what was written before and in front of what comes after", arguments: [true, false])
    func order(isDirect: Bool) async throws {
        let content = TestFile.pattern(3_000_000)
        try await TestFile.with(content) { file in
            try await withPair { near, far in
                if !isDirect { await near.sendFilesThroughChannel() }
                let before = TestFile.pattern(40_000)
                try await near.write(before)
                let (stream, progress) = Self.progress()
                let first = Task { try await near.writeFile(file.path, progress: progress) }
                // Told for the first time while the file is on its way, as the far side takes nothing yet.
                _ = await Self.first(stream)
                let second = Task { try await near.write("between") }
                async let bytes = far.read(exactly: before.count + content.count + 7 + 5, timeout: .limit(seconds: 60))
                try await second.value
                try await near.writeFile(descriptor: file.descriptor, offset: 10, count: 5)
                #expect(try await bytes == before + content + Array("between".utf8) + content[10..<15])
                #expect(try await first.value == 3_000_000)
                #expect(await near.bytesSent == UInt64(3_000_000 + 40_000 + 12))
                try await near.write("after")
                #expect(try await far.read(exactly: 5, timeout: .limit(seconds: 60)) == Array("after".utf8))
            }
        }
    }

    @Test("A write that waits for room goes on when its bytes have gone, however much is written behind it")
    func roomInFront() async throws {
        try await withPair { near, far in
            let large = [UInt8](repeating: 1, count: 20_000_000)
            let first = Task { try await near.write(large) }
            while await near.waitingWrites == 0 { await Task.yield() }
            let (stream, progress) = Self.progress()
            let second = Task { try await near.write(large + large, progress: progress) }
            async let some = far.read(exactly: large.count, timeout: .limit(seconds: 60))
            #expect(try await some.count == large.count)
            _ = await Self.first(stream)
            // The far side reads no more, so the second can't end.
            try await first.value
            async let rest = far.read(exactly: 2 * large.count, timeout: .limit(seconds: 60))
            #expect(try await rest.count == 2 * large.count)
            try await second.value
        }
    }

    @Test("A file goes over a Unix socket as well")
    func unix() async throws {
        let content = TestFile.pattern(1_000_000)
        try await TestFile.with(content) { file in
            var pair: [Int32] = [0, 0]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            try #require(unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0)
            let near = try await Socket.adopt(descriptor: pair[0])
            let far = try await Socket.adopt(descriptor: pair[1])
            async let bytes = far.read(exactly: content.count, timeout: .limit(seconds: 60))
            #expect(try await near.writeFile(file.path) == 1_000_000)
            #expect(try await bytes == content)
            await near.close()
            #expect(try await far.read(timeout: .limit(seconds: 60)) == nil)
            await far.close()
        }
    }

    @Test("Files and writes of many tasks are never mixed", arguments: [true, false])
    func many(isDirect: Bool) async throws {
        try await TestFile.with([UInt8](repeating: 9, count: 30_000)) { file in
            try await withPair { near, far in
                if !isDirect { await near.sendFilesThroughChannel() }
                let writers = (1...8).map { number in
                    Task {
                        let piece = [UInt8](repeating: UInt8(number), count: 15_000)
                        for _ in 0..<4 {
                            switch number % 3 {
                            case 0: try await near.writeFile(file.path)
                            case 1: try await near.write([piece, piece])
                            default: try await near.write(piece + piece, progress: { _ in })
                            }
                        }
                    }
                }
                for _ in 0..<32 {
                    let block = try await far.read(exactly: 30_000, timeout: .limit(seconds: 60))
                    #expect(block.allSatisfy { $0 == block[0] })
                }
                for writer in writers { try await writer.value }
            }
        }
    }

    @Test("Progress grows up to all, for files and for bytes", arguments: [true, false])
    func progress(isFile: Bool) async throws {
        let content = TestFile.pattern(1_000_000)
        try await TestFile.with(content) { file in
            try await withPair { near, far in
                let values = Mutex<[UInt64]>([])
                let progress: WriteProgress = { written in values.withLock { $0.append(written) } }
                async let bytes = far.read(exactly: content.count, timeout: .limit(seconds: 60))
                if isFile {
                    #expect(try await near.writeFile(file.path, progress: progress) == 1_000_000)
                } else {
                    try await near.write(content, progress: progress)
                }
                let told = values.withLock { $0 }
                #expect(told.last == 1_000_000)
                #expect(zip(told, told.dropFirst()).allSatisfy { $0 < $1 })
                #expect(try await bytes == content)
            }
        }
    }

    @Test("A peer that doesn't read stops a file, and the time-out resets the connection", arguments: [true, false])
    func timeout(isDirect: Bool) async throws {
        try await TestFile.withLarge { file, size in
            try await withPair { near, far in
                if !isDirect { await near.sendFilesThroughChannel() }
                // What lies in the system's cache goes at once, without a thread that reads ahead.
                try FileRange(path: file.path, offset: 0, count: nil).part.prefix(8 << 20).readAhead()
                let extensions = Mutex<[Int]>([])
                let extend: TimeoutExtension = { elapsed, bytes in
                    let count = extensions.withLock { extensions in
                        extensions.append(elapsed > .zero ? bytes : -1)
                        return extensions.count
                    }
                    return count < 3 ? .milliseconds(50) : nil
                }
                let late = Task {
                    try await near.writeFile(file.path, timeout: .milliseconds(500), extend: extend)
                }
                await #expect { _ = try await late.value } throws: { ($0 as? SocketError)?.code == .timedOut }
                let bytes = extensions.withLock { $0 }
                #expect(bytes.count == 3)
                #expect(bytes.allSatisfy { $0 > 0 && UInt64($0) < size })
                #expect(await errorCode { try await near.write("more") } == .closed)
                let (count, end) = await drain(far)
                #expect(end == .connectionReset)
                #expect(UInt64(count) < size)
            }
        }
    }

    @Test("A file that has begun takes the connection along when it is cancelled")
    func cancelling() async throws {
        try await TestFile.withLarge { file, _ in
            try await withPair { near, far in
                let (stream, progress) = Self.progress()
                let writer = Task { try await near.writeFile(file.path, progress: progress) }
                _ = await Self.first(stream)
                let behind = Task { try await near.write("behind") }
                let reader = Task { try await near.read() }
                writer.cancel()
                await #expect(throws: CancellationError.self) { try await writer.value }
                #expect(await errorCode { try await behind.value } == .closed)
                #expect(await errorCode { _ = try await reader.value } == .closed)
                #expect(await drain(far).end == .connectionReset)
            }
        }
    }

    @Test("A file that waits for its turn is withdrawn when it is cancelled or late, and the connection lives")
    func withdrawing() async throws {
        let content = TestFile.pattern(1_000)
        try await TestFile.with(content) { file in
            try await withPair { near, far in
                let large = [UInt8](repeating: 1, count: 32 * 1_024 * 1_024)
                let (stream, progress) = Self.progress()
                let first = Task { try await near.write(large, progress: progress) }
                _ = await Self.first(stream)
                let cancelled = Task { try await near.writeFile(file.path) }
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                #expect(
                    await errorCode { try await near.writeFile(file.path, timeout: .milliseconds(20)) } == .timedOut
                )
                // Bytes that were taken over go out, whoever waits for them.
                let abandoned = Task { try await near.write("abandoned", timeout: .milliseconds(20)) }
                #expect(await errorCode { try await abandoned.value } == .timedOut)
                async let rest = far.read(exactly: large.count + 9, timeout: .limit(seconds: 60))
                try await first.value
                try await near.write("!")
                #expect(try await rest.suffix(9) == Array("abandoned".utf8))
                #expect(try await far.read(timeout: .limit(seconds: 60)) == Array("!".utf8))
            }
        }
    }

    @Test("A file that gets shorter on its way is an error, and the connection is reset", arguments: [true, false])
    func truncation(isDirect: Bool) async throws {
        try await TestFile.withLarge { file, size in
            try await withPair { near, far in
                if !isDirect { await near.sendFilesThroughChannel() }
                let (stream, progress) = Self.progress()
                let writer = Task { try await near.writeFile(file.path, progress: progress) }
                _ = await Self.first(stream)
                #expect(ftruncate(file.descriptor, 1) == 0)
                let (count, end) = await drain(far)
                #expect(UInt64(count) < size)
                #expect(end == .connectionReset)
                #expect(await errorCode { _ = try await writer.value } == .unreadableFile)
                #expect(await errorCode { try await near.write("more") } == .closed)
            }
        }
    }

    @Test("A file that can't be had fails alone")
    func missing() async throws {
        try await withPair { near, far in
            #expect(await errorCode { try await near.writeFile("/nowhere") } == .unreadableFile)
            try await near.write("alive")
            #expect(try await far.read(timeout: .limit(seconds: 60)) == Array("alive".utf8))
            await near.finishWriting()
            #expect(await errorCode { try await near.writeFile("/nowhere") } == .closed)
            #expect(await errorCode { try await near.write([1], progress: { _ in }) } == .closed)
        }
    }

    @Test("The end of writing comes behind the file", arguments: [true, false])
    func finishing(isDirect: Bool) async throws {
        let content = TestFile.pattern(20_000_000)
        try await TestFile.with(content) { file in
            try await withPair { near, far in
                if !isDirect { await near.sendFilesThroughChannel() }
                let (stream, progress) = Self.progress()
                let writer = Task { try await near.writeFile(file.path, progress: progress) }
                _ = await Self.first(stream)
                await near.finishWriting()
                #expect(await errorCode { try await near.write("late") } == .closed)
                let (count, end) = await drain(far)
                #expect(count == content.count)
                #expect(end == nil)
                let written = try await writer.value
                #expect(written == UInt64(content.count))
            }
        }
    }

    @Test("Closing meanwhile resets the connection if there is a file, and else sends what was written")
    func closing() async throws {
        try await TestFile.withLarge { file, size in
            try await withPair { near, far in
                let (stream, progress) = Self.progress()
                let writer = Task { try await near.writeFile(file.path, progress: progress) }
                _ = await Self.first(stream)
                await near.close()
                #expect(await errorCode { _ = try await writer.value } == .closed)
                #expect(await drain(far).end == .connectionReset)
            }
        }
        try await withPair { near, far in
            let large = [UInt8](repeating: 1, count: 20_000_000)
            let (stream, progress) = Self.progress()
            let first = Task { try await near.write(large, progress: progress) }
            _ = await Self.first(stream)
            let second = Task { try await near.write("second", timeout: .milliseconds(1)) }
            #expect(await errorCode { try await second.value } == .timedOut)
            // What is written may take 10 seconds from closing, so the reader waits on its loop for that moment.
            let (gate, opening) = AsyncStream<Void>.makeStream()
            async let drained = drain(far, behind: gate)
            await close(near, opening)
            #expect(await errorCode { try await first.value } == .closed)
            let (count, end) = await drained
            #expect(count == large.count + 6)
            #expect(end == nil)
        }
    }

    @Test("A peer that is lost ends the file and what is behind it")
    func lost() async throws {
        try await TestFile.withLarge { file, _ in
            try await withPair { near, far in
                let (stream, progress) = Self.progress()
                let writer = Task { try await near.writeFile(file.path, progress: progress) }
                _ = await Self.first(stream)
                let behind = Task { try await near.writeFile(file.path) }
                await far.reset()
                #expect(await errorCode { _ = try await writer.value } == .connectionReset)
                #expect(await errorCode { _ = try await behind.value } == .connectionReset)
            }
        }
    }

    #if os(Linux)
    @Test("Cancelled at whatever moment, a file is closed, and its task comes back", arguments: 0..<4)
    func cancelledAnywhere(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await TestFile.withLarge { file, size in
            for round in 0..<12 {
                let yields = Int.random(in: 0..<200, using: &random)
                try await withPair { near, far in
                    if round % 3 == 0 { await near.sendFilesThroughChannel() }
                    let reader = Task { await drain(far) }
                    let writers = (0..<3).map { _ in
                        Task { try await near.writeFile(file.path, timeout: .seconds(60)) }
                    }
                    for _ in 0..<yields { await Task.yield() }
                    for writer in writers { writer.cancel() }
                    for writer in writers {
                        let result = await writer.result
                        #expect((try? result.get()) == nil || (try? result.get()) == size)
                    }
                    await near.close()
                    _ = await reader.value
                }
            }
            // What reads ahead on a thread of its own lets go of the file a moment later.
            #expect(await comesTrue { file.openCount == 1 })
        }
    }
    #endif

    @Test("Who hears of progress may close the socket")
    func closingInProgress() async throws {
        try await TestFile.withLarge { file, _ in
            try await withPair { near, far in
                let end = await errorCode {
                    try await near.writeFile(file.path, progress: { _ in near.assumeIsolated { $0.reset() } })
                }
                #expect(end == .closed)
                #expect(await drain(far).end == .connectionReset)
            }
        }
    }
}
