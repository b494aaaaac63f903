// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Numbers of bytes")
struct ByteCountTests {
    @Test("Units are powers of 1,024")
    func units() {
        #expect(ByteCount.bytes(7).bytes == 7)
        #expect(ByteCount.kibibytes(3).bytes == 3_072)
        #expect(ByteCount.mebibytes(2).bytes == 2_097_152)
        #expect(ByteCount.gibibytes(1).bytes == 1_073_741_824)
        #expect((5 as ByteCount).bytes == 5)
    }

    @Test("A negative number is taken as zero, whatever its unit", arguments: [-1, -1_024, Int.min])
    func negative(count: Int) {
        let counts: [ByteCount] = [.bytes(count), .kibibytes(count), .mebibytes(count), .gibibytes(count)]
        #expect(counts.map(\.bytes) == [0, 0, 0, 0])
    }

    @Test("A number too large for its unit is no bound")
    func overflow() {
        #expect(ByteCount.kibibytes(.max) == .unlimited)
        #expect(ByteCount.gibibytes(1 << 33) == .unlimited)
        #expect(ByteCount.gibibytes(1 << 32).bytes == 1 << 62)
        #expect(ByteCount.unlimited.bytes == .max)
    }

    @Test("Counts compare by size")
    func order() {
        #expect(ByteCount.bytes(1_023) < .kibibytes(1))
        #expect(ByteCount.bytes(1_024) == .kibibytes(1))
        #expect(ByteCount.gibibytes(8) < .unlimited)
    }

    @Test(
        "A count is printed in the largest unit that divides it",
        arguments: [
            (0, "0 B"), (1, "1 B"), (1_023, "1023 B"), (1_024, "1 KiB"), (1_025, "1025 B"), (16_384, "16 KiB"),
            (1_048_576, "1 MiB"), (1_049_600, "1025 KiB"), (3 << 30, "3 GiB"), (Int.max, "unlimited"),
        ]
    )
    func description(bytes: Int, text: String) {
        #expect(ByteCount(bytes).description == text)
    }
}
