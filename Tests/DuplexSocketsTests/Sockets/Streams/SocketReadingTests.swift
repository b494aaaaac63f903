// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import Testing

@Suite struct SocketReadingTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("Reads of every kind take their part of one stream, however it is cut", arguments: [1, 2, 5, 1_000])
    func kinds(size: Int) async throws {
        try await withPair { near, far in
            let stream = bytes("head: a\r\n\r\n12345line one\r\nline two\nrest of it")
            let writer = Task {
                for start in stride(from: 0, to: stream.count, by: size) {
                    try await near.write(Array(stream[start..<min(start + size, stream.count)]))
                }
                await near.finishWriting()
            }
            #expect(try await far.read(until: "\r\n\r\n", limit: 100) == bytes("head: a\r\n\r\n"))
            #expect(try await far.peek(3) == bytes("123"))
            #expect(try await far.read(exactly: 5) == bytes("12345"))
            #expect(try await far.readLine() == "line one")
            #expect(try await far.readLine() == "line two")
            #expect(try await far.read(exactly: 4) == bytes("rest"))
            #expect(try await far.readLine() == " of it")
            #expect(try await far.readLine() == nil)
            #expect(try await far.read(until: [0]) == nil)
            #expect(try await far.read() == nil)
            try await writer.value
            #expect(await far.bytesReceived == UInt64(stream.count))
            #expect(await near.bytesSent == UInt64(stream.count))
        }
    }

    /// Asks the socket something, which may leave the task on the loop's thread, and then reads.
    private func readBehindAnother(_ socket: Socket) async throws -> [UInt8]? {
        let before = await socket.bytesReceived
        let bytes = try await socket.read(timeout: .limit(seconds: 30))
        let after = await socket.bytesReceived
        #expect(after == before + UInt64(bytes?.count ?? 0))
        return bytes
    }

    @Test("A task without an actor that is on the loop's thread by chance reads as any other")
    func byChance() async throws {
        try await withPair { near, far in
            for number in 0..<200 as Range<UInt8> {
                async let bytes = readBehindAnother(far)
                try await near.write([number])
                #expect(try await bytes == [number])
                let (tasks, tell) = AsyncStream<Task<[UInt8]?, any Error>>.makeStream()
                far.loop.execute { _ in tell.yield(Task.immediate { try await far.read() }) }
                var iterator = tasks.makeAsyncIterator()
                let task = try #require(await iterator.next())
                try await near.write([number])
                let others = try await task.value
                #expect(others == [number])
            }
        }
    }

    /// Begins reads of three bytes each, one after the other.
    private func beginReads(_ count: Int, on socket: isolated Socket) -> [Task<[UInt8], any Error>] {
        (0..<count).map { _ in Task { try await socket.read(exactly: 3) } }
    }

    @Test("Reads of several tasks are served in the order in which they were begun")
    func queue() async throws {
        try await withPair { near, far in
            let reads = await beginReads(4, on: far)
            try await near.write("aaabbbcccddd")
            var texts: [String] = []
            for read in reads { texts.append(String(decoding: try await read.value, as: UTF8.self)) }
            #expect(texts == ["aaa", "bbb", "ccc", "ddd"])
        }
    }

    @Test("A read that is cancelled leaves its place and its bytes to the next")
    func cancelled() async throws {
        try await withPair { near, far in
            let reads = await beginReads(3, on: far)
            try await near.write("aa")
            reads[0].cancel()
            await #expect(throws: CancellationError.self) { try await reads[0].value }
            try await near.write("abbb")
            #expect(try await reads[1].value == bytes("aaa"))
            #expect(try await reads[2].value == bytes("bbb"))
        }
    }

    @Test("A read that times out leaves what came for it to the next")
    func timedOut() async throws {
        try await withPair { near, far in
            try await near.write("half a line")
            #expect(try await far.peek(11) == bytes("half a line"))
            await #expect { try await far.readLine(timeout: .milliseconds(20)) } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            try await near.write(" and the rest\n")
            #expect(try await far.readLine() == "half a line and the rest")
        }
    }

    @Test("A read whose time is over is given more as often as it is asked for, and told how far it is")
    func extended() async throws {
        try await withPair { near, far in
            try await near.write("ab")
            #expect(try await far.peek(2) == bytes("ab"))
            let (asked, asking) = AsyncStream<(Duration, Int)>.makeStream()
            let read = Task {
                try await far.read(exactly: 4, timeout: .milliseconds(5)) { elapsed, received in
                    asking.yield((elapsed, received))
                    return .milliseconds(5)
                }
            }
            var last = Duration.zero
            var times = 0
            for await (elapsed, received) in asked {
                #expect(elapsed > last)
                #expect(received == 2)
                last = elapsed
                times += 1
                if times == 3 { break }
            }
            try await near.write("cd")
            #expect(try await read.value == bytes("abcd"))
        }
    }

    @Test("A line that isn't UTF-8 fails alone, and so does one beyond the limit")
    func faults() async throws {
        try await withPair { near, far in
            try await near.write([0xC3, 0x0A] + bytes("too long\nshort\n"))
            await #expect { try await far.readLine() } throws: { ($0 as? SocketError)?.code == .invalidUTF8 }
            await #expect { try await far.readLine(limit: 6) } throws: { ($0 as? SocketError)?.code == .limitExceeded }
            #expect(try await far.readLine() == "too long")
            #expect(try await far.readLine(limit: 6) == "short")
        }
    }

    @Test("A stream that ends too early says so, and gives what came to the next read")
    func endOfStream() async throws {
        try await withPair { near, far in
            try await near.write("abc")
            await near.finishWriting()
            await #expect { try await far.read(exactly: 4) } throws: { ($0 as? SocketError)?.code == .endOfStream }
            await #expect { try await far.read(until: "\n") } throws: { ($0 as? SocketError)?.code == .endOfStream }
            #expect(try await far.read() == bytes("abc"))
            await #expect { try await far.read(exactly: 1) } throws: { ($0 as? SocketError)?.code == .endOfStream }
            #expect(try await far.read(exactly: 0) == [])
        }
    }

    @Test("What a peer sent before its reset can still be read, as far as it had arrived")
    func reset() async throws {
        try await withPair { near, far in
            try await near.write("one\ntwo\nthr")
            #expect(try await far.readLine() == "one")
            await near.reset()
            #expect(try await far.readLine() == "two")
            await #expect { try await far.readLine() } throws: { ($0 as? SocketError)?.code == .connectionReset }
        }
    }

    @Test("A read whose time is over may close the socket")
    func closedByExtension() async throws {
        try await withPair { _, far in
            await #expect {
                try await far.read(timeout: .milliseconds(5)) { _, _ in
                    far.assumeIsolated { $0.close() }
                    return .seconds(1)
                }
            } throws: {
                ($0 as? SocketError)?.code == .closed
            }
        }
    }

    @Test("After closing a read says so, whatever the peer did before")
    func closedAfterTheEnd() async throws {
        try await withPair { near, far in
            await near.finishWriting()
            let end = try await far.read()
            #expect(end == nil)
            await far.close()
            await #expect { try await far.read() } throws: { ($0 as? SocketError)?.code == .closed }
            await #expect { try await far.read(exactly: 1) } throws: { ($0 as? SocketError)?.code == .closed }
        }
    }

    @Test("A socket that always has something to read leaves its loop to the others", .timeLimit(minutes: 1))
    func fairness() async throws {
        let (near, far) = (try EventLoopGroup(loops: 1), try EventLoopGroup(loops: 1))
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: far)
        let serving = Task {
            // The first byte says whether to drain or to echo.
            try await listener.serve { socket in
                let isEcho = try await socket.read(exactly: 1) == [1]
                while let bytes = try await socket.read(upTo: 1_000) {
                    if isEcho { try await socket.write(bytes) }
                }
            }
        }
        var floods: [Task<Void, any Error>] = []
        for _ in 0..<2 {
            let socket = try await Socket.connect(to: .address(listener.localAddress), on: near)
            floods.append(Task { while true { try await socket.write([UInt8](repeating: 0, count: 60_000)) } })
        }
        let echo = try await Socket.connect(to: .address(listener.localAddress), on: near)
        try await echo.write([1])
        for number in 0..<100 {
            try await echo.write("\(number)\n")
            #expect(try await echo.readLine() == "\(number)")
        }
        for flood in floods { flood.cancel() }
        serving.cancel()
        _ = await serving.result
        await near.stop()
        await far.stop()
    }

    @Test("Closing fails every read that waits")
    func closed() async throws {
        try await withPair { _, far in
            let reads = await beginReads(3, on: far)
            await far.close()
            for read in reads {
                await #expect { try await read.value } throws: { ($0 as? SocketError)?.code == .closed }
            }
            await #expect { try await far.read() } throws: { ($0 as? SocketError)?.code == .closed }
        }
    }

    @Test("Bytes are read into memory of the caller's as far as it has room")
    func intoMemory() async throws {
        try await withPair { near, far in
            try await near.write("0123456789")
            await near.finishWriting()
            #expect(try await readAll(from: far) == bytes("0123456789"))
        }
    }

    private func readAll(from socket: isolated Socket) async throws -> [UInt8] {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 1)
        defer { unsafe memory.deallocate() }
        var all: [UInt8] = []
        while true {
            var output = unsafe OutputRawSpan(buffer: memory, initializedCount: 0)
            let count = try await socket.read(into: &output)
            #expect(unsafe output.finalize(for: memory) == count)
            if count == 0 { return all }
            unsafe all.append(contentsOf: memory[..<count])
        }
    }
}
