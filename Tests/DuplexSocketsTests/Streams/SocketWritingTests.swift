// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct SocketWritingTests {
    @Test("Several pieces arrive as one, in their order, large ones among them")
    func pieces() async throws {
        try await withPair { near, far in
            let large = [UInt8](repeating: 7, count: 100_000)
            let pieces: [[UInt8]] = [[1, 2], [], large, [3]]
            async let written: Void = near.write(pieces)
            #expect(try await far.read(exactly: large.count + 3) == pieces.flatMap(\.self))
            try await written
            #expect(await near.bytesWritten == UInt64(large.count + 3))
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
}
