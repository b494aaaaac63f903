// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Foundation
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

    @Test(
        "A number and a unit make a count",
        arguments: [
            ("0", 0), ("100", 100), ("32B", 32), ("32 B", 32), ("64KiB", 65_536), ("16 MiB", 16_777_216),
            ("2GiB", 2_147_483_648), ("64KB", 64_000), ("64kB", 64_000), ("3 MB", 3_000_000), ("1GB", 1_000_000_000),
            ("9223372036854775807", Int.max), ("unlimited", Int.max),
        ]
    )
    func text(text: String, bytes: Int) {
        #expect(ByteCount(text)?.bytes == bytes)
    }

    @Test(
        "Any other text is no count",
        arguments: [
            "", " ", "B", "KiB", " 1", "-1", "+1", "1.5KiB", "1  KiB", "1 ", "1 KiB ", "1kib", "1K", "1TB", "0x10",
            "1KiBs",
            "Unlimited", "１", "9223372036854775808", "9007199254740993KiB",
        ]
    )
    func noCount(text: String) {
        #expect(ByteCount(text) == nil)
    }

    @Test("A count is read back from its description", arguments: [0, 1, 1_024, 1_025, 5 << 20, 3 << 30, Int.max])
    func readBack(bytes: Int) {
        #expect(ByteCount("\(ByteCount(bytes))") == ByteCount(bytes))
    }

    @Test("A count is written as a number, and read from a number or a text")
    func codable() throws {
        let counts: [ByteCount] = [0, 100, .mebibytes(16), .unlimited]
        let json = try JSONEncoder().encode(counts)
        #expect(String(decoding: json, as: UTF8.self) == "[0,100,16777216,9223372036854775807]")
        #expect(try JSONDecoder().decode([ByteCount].self, from: json) == counts)
        let texts = try JSONDecoder().decode([ByteCount].self, from: Data(#"["16 MiB","100","unlimited"]"#.utf8))
        #expect(texts == [.mebibytes(16), 100, .unlimited])
    }

    @Test("What is no count can't be read", arguments: ["-1", "1.5", "true", "null", #""16 miles""#])
    func undecodable(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ByteCount].self, from: Data("[\(json)]".utf8)) }
    }
}
