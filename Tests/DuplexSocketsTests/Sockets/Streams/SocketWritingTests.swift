// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct SocketWritingTests {
    @Test("Several pieces arrive as one, in their order, large ones among them")
    func pieces() async throws {
        try await withPair { near, far in
            let large = [UInt8](repeating: 7, count: 100_000)
            let pieces: [[UInt8]] = [[1, 2], [], large, [3]]
            async let written: Void = near.write(pieces)
            #expect(try await far.read(exactly: large.count + 3) == pieces.flatMap(\.self))
            try await written
            #expect(await near.bytesSent == UInt64(large.count + 3))
        }
    }

    @Test("Nothing comes between the pieces of a write, whoever else writes")
    func whole() async throws {
        try await withPair { near, far in
            let writers = (1...8).map { number in
                Task {
                    let piece = [UInt8](repeating: UInt8(number), count: 20_000)
                    for _ in 0..<5 { try await near.write([piece, piece]) }
                }
            }
            for _ in 0..<40 {
                let block = try await far.read(exactly: 40_000)
                #expect(block.allSatisfy { $0 == block[0] })
            }
            for writer in writers { try await writer.value }
        }
    }

    @Test("After the end of writing nothing can be written, and reading goes on")
    func finished() async throws {
        try await withPair { near, far in
            await near.finishWriting()
            await #expect { try await near.write("late") } throws: { ($0 as? SocketError)?.code == .closed }
            try await far.write("still read\n")
            #expect(try await near.readLine() == "still read")
        }
    }

    @Test("With water marks of 0 a write waits until the system has taken all; with high ones it doesn't wait")
    func waterMarks() async throws {
        try await withPair { near, far in
            let large = [UInt8](repeating: 1, count: 20_000_000)
            try await near.setWaterMarks(high: 100_000_000, low: 0)
            try await near.write(large)
            #expect(await near.queuedBytes > 0)
            try await near.setWaterMarks(high: 0, low: 0)
            let writer = Task {
                try await near.write("last")
                return await near.queuedBytes
            }
            #expect(try await far.read(exactly: large.count + 4, timeout: .limit(seconds: 60)).count == large.count + 4)
            #expect(try await writer.value == 0)
        }
    }

    @Test("Writers that wait go on when the marks are raised")
    func raisedMarks() async throws {
        try await withPair { near, _ in
            let writer = Task { try await near.write([UInt8](repeating: 1, count: 20_000_000)) }
            while await near.waitingWrites == 0 { await Task.yield() }
            try await near.setWaterMarks(high: 100_000_000, low: 100_000_000)
            try await writer.value
            #expect(await near.queuedBytes > 0)
        }
    }

    @Test("A write that is late asks for more time, says how far it has come, and fails alone")
    func extending() async throws {
        try await withPair { near, far in
            let large = [UInt8](repeating: 1, count: 20_000_000)
            let asked = Mutex<[Int]>([])
            await #expect {
                try await near.write(large, timeout: .milliseconds(20)) { elapsed, sent in
                    asked.withLock { asked in
                        asked.append(elapsed > .zero ? sent : -1)
                        return asked.count < 3 ? .milliseconds(20) : nil
                    }
                }
            } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            let counts = asked.withLock { $0 }
            #expect(counts.count == 3)
            #expect(counts.allSatisfy { $0 > 0 && $0 < large.count })
            async let late: Void = near.write("late")
            #expect(
                try await far.read(exactly: large.count + 4, timeout: .limit(seconds: 60)).suffix(4)
                    == Array("late".utf8)
            )
            try await late
        }
    }
}
