// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("How the buffer of a message grows")
struct MessageAssemblerGrowthTests {
    /// How often the buffer moved while `pieces` of that size arrived, `following` bytes of each frame behind each piece.
    private func moves(pieces: Int, size: Int, following: UInt64) throws -> Int {
        var assembler = MessageAssembler(.binary)
        let piece = [UInt8](repeating: 7, count: size)
        var moves = 0
        var capacity = 0
        for _ in 0..<pieces {
            try assembler.append(piece.span.raw, expected: following)
            if assembler.buffer.capacity != capacity { moves += 1 }
            capacity = assembler.buffer.capacity
            // Twice what has arrived, 4 KiB for the beginning, and what the allocator rounds up.
            let bound = 2 * assembler.buffer.count + 4_096 + 64
            #expect(capacity <= bound + bound / 8)
        }
        return moves
    }

    @Test(
        "A message in many small pieces is moved a few times, not once for each",
        arguments: [0, 1, 1 << 40] as [UInt64]
    )
    func smallPieces(following: UInt64) throws {
        #expect(try moves(pieces: 4_096, size: 16, following: following) <= 20)
    }

    @Test("A frame of 64 KiB that comes in two reads is given room twice at most")
    func twoReads() throws {
        #expect(try moves(pieces: 2, size: 32_768, following: 32_768) <= 2)
    }
}
