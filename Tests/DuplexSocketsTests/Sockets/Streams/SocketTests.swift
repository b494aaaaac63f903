// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct SocketTests {
    @Test("Bytes go both ways, and the end of the stream is seen after them")
    func bothWays() async throws {
        try await withPair { near, far in
            try await near.write("hello")
            #expect(try await far.read() == Array("hello".utf8))
            try await far.write("there")
            #expect(try await near.read() == Array("there".utf8))
            await near.finishWriting()
            #expect(try await far.read() == nil)
            #expect(try await far.read() == nil)
            try await far.write("still open this way")
            #expect(try await near.read() == Array("still open this way".utf8))
        }
    }

    @Test("A read takes no more than it is asked for, and the rest waits", arguments: [1, 2, 3, 7])
    func limitedRead(count: Int) async throws {
        try await withPair { near, far in
            try await near.write("0123456789")
            await near.finishWriting()
            var text = ""
            while let bytes = try await far.read(upTo: count) {
                #expect(bytes.count <= count)
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text == "0123456789")
        }
    }

    @Test("A read waits for bytes that come later")
    func waitingRead() async throws {
        try await withPair { near, far in
            async let bytes = far.read()
            try await near.write("late")
            #expect(try await bytes == Array("late".utf8))
        }
    }

    @Test("A read that times out fails alone: the next one gets the bytes")
    func timedOutRead() async throws {
        try await withPair { near, far in
            await #expect { try await far.read(timeout: .milliseconds(20)) } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            try await near.write("here")
            #expect(try await far.read() == Array("here".utf8))
        }
    }

    @Test("Cancelling a task that waits to read ends the wait at once, and the socket lives on")
    func cancelledRead() async throws {
        try await withPair { near, far in
            let reader = Task { try await far.read() }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            try await near.write("alive")
            #expect(try await far.read() == Array("alive".utf8))
        }
    }

    @Test("A writer is slowed down by a peer that doesn't read, and everything arrives whole and in order")
    func backpressure() async throws {
        try await withPair { near, far in
            let block = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
            let writer = Task {
                for _ in 0..<200 { try await near.write(block) }
                await near.finishWriting()
            }
            var received = 0
            var isRight = true
            while let bytes = try await far.read() {
                for byte in bytes {
                    isRight = isRight && byte == block[received % block.count]
                    received += 1
                }
            }
            try await writer.value
            #expect(isRight)
            #expect(received == 200 * block.count)
        }
    }

    @Test("Cancelling a task that waits to write ends the wait at once")
    func cancelledWrite() async throws {
        try await withPair { near, _ in
            let block = [UInt8](repeating: 7, count: 1 << 20)
            let writer = Task { while true { try await near.write(block) } }
            await #expect { while true { try await near.write(block, timeout: .milliseconds(50)) } } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            writer.cancel()
            await #expect(throws: CancellationError.self) { try await writer.value }
        }
    }

    @Test("A peer that vanishes with a reset fails the read with connectionReset")
    func reset() async throws {
        try await withPair { near, far in
            let reader = Task { try await far.read() }
            await near.reset()
            await #expect { try await reader.value } throws: { ($0 as? SocketError)?.code == .connectionReset }
        }
    }

    @Test("Writing to a peer that is gone fails in the end, without a signal")
    func brokenPipe() async throws {
        try await withPair { near, far in
            await far.reset()
            await #expect { while true { try await near.write([UInt8](repeating: 1, count: 4_096)) } } throws: {
                ($0 as? SocketError)?.code == .connectionReset
            }
        }
    }

    @Test("Closing sends what was written and ends what waits")
    func closing() async throws {
        try await withPair { near, far in
            let block = [UInt8](repeating: 3, count: 3 << 20)
            let writer = Task { try? await near.write(block) }
            _ = try await far.read(upTo: 1)
            let reader = Task { try await near.read() }
            // From closing on what is written has 10 seconds, so the reader waits on its loop for that moment.
            let (gate, opening) = AsyncStream<Void>.makeStream()
            async let drained = drain(far, behind: gate)
            await close(near, opening)
            await #expect { try await reader.value } throws: { ($0 as? SocketError)?.code == .closed }
            let (received, end) = await drained
            #expect(received == block.count - 1 && end == nil)
            _ = await writer.value
            await #expect { try await near.write("more") } throws: { ($0 as? SocketError)?.code == .closed }
        }
    }

    @Test("A socket that is dropped is closed")
    func dropping() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var iterator = listener.makeAsyncIterator()
        let address = listener.localAddress
        async let accepted = iterator.next()
        var near: Socket? = try await Socket.connect(to: .address(address))
        let far = try #require(try await accepted)
        #expect(near?.remoteAddress == address)
        near = nil
        await #expect(throws: SocketError.self) { _ = try await far.read() }
        await listener.close()
    }
}
