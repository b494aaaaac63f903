// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite struct OutputBufferTests {
    /// Two ends of a stream within this process, neither of which waits.
    private final class Stream {
        let near: Int32
        let far: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            for end in ends { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
            near = ends[0]
            far = ends[1]
        }

        deinit {
            SystemCalls.close(near)
            SystemCalls.close(far)
        }

        /// What has arrived at the far end.
        func arrived() -> [UInt8] {
            var bytes: [UInt8] = []
            let buffer = ReceiveBuffer()
            while case .transferred(1...) = buffer.receive(from: far, { bytes += [UInt8](copying: $0.bytes) }) {}
            return bytes
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// Sends all that waits, and gives what arrived.
    private func drain(_ buffer: OutputBuffer, _ stream: Stream) -> [UInt8] {
        var arrived: [UInt8] = []
        while buffer.count > 0 {
            if case .failed = buffer.send(to: stream.near) { break }
            arrived += stream.arrived()
        }
        return arrived
    }

    @Test(
        "What is appended goes out in its order, within the block and beyond it",
        arguments: [
            [1], [16_384], [16_385], [1, 16_384], [16_000, 384, 1], [500_000, 7], [10, 20_000, 40_000, 300_000],
        ]
    )
    func order(sizes: [Int]) throws {
        let stream = try Stream()
        let buffer = OutputBuffer()
        var expected: [UInt8] = []
        // Twice, as a buffer is used again and again.
        for _ in 0..<2 {
            for size in sizes {
                let bytes = Self.bytes(size)
                buffer.append(bytes.span.raw)
                expected += bytes
            }
            #expect(buffer.count == expected.count)
            #expect(drain(buffer, stream) == expected)
            #expect(buffer.count == 0)
            expected = []
        }
    }

    @Test("A writer may use less than the room it asked for")
    func lessThanCapacity() throws {
        let stream = try Stream()
        let buffer = OutputBuffer()
        buffer.append(capacity: 100) { $0.append(UInt8(7)) }
        buffer.append(capacity: 20_000) { _ in }
        buffer.append(capacity: 1) { $0.append(UInt8(8)) }
        #expect(buffer.count == 2)
        #expect(drain(buffer, stream) == [7, 8])
    }

    @Test("Bytes behind what waits go out in one call, and what the socket doesn't take is kept", arguments: [0, 5])
    func behind(waiting: Int) throws {
        let stream = try Stream()
        let buffer = OutputBuffer()
        let first = Self.bytes(waiting)
        let second = Self.bytes(4_000_000)
        buffer.append(first.span.raw)
        guard case .transferred(let sent) = buffer.send(to: stream.near, then: second.span.raw) else {
            Issue.record("Nothing was sent.")
            return
        }
        #expect(sent > waiting && sent < waiting + second.count)
        #expect(buffer.count == waiting + second.count - sent)
        #expect(stream.arrived() + drain(buffer, stream) == first + second)
    }

    @Test("What waits can be dropped, and nothing of it goes out")
    func dropped() throws {
        let stream = try Stream()
        let buffer = OutputBuffer()
        buffer.append(Self.bytes(50_000).span.raw)
        buffer.removeAll()
        #expect(buffer.count == 0)
        buffer.append([1].span.raw)
        #expect(drain(buffer, stream) == [1])
    }
}
