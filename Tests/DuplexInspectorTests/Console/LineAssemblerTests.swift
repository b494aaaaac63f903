// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexInspector

@Suite("Lines out of pieces of any size")
struct LineAssemblerTests {
    private static func lines(_ pieces: [[UInt8]], limit: Int = 16_384) -> [LineAssembler.Line] {
        var assembler = LineAssembler(limit: limit)
        var lines = pieces.flatMap { assembler.take($0[...]) }
        if let last = assembler.finish() { lines.append(last) }
        return lines
    }

    @Test(
        "Whatever the pieces, the lines are the same",
        arguments: [
            ("one\ntwo\r\n\nthree", ["one", "two", "", "three"]), ("", []), ("\n", [""]), ("a\rb\n", ["a\rb"]),
            ("Zürich 東京 🌷\nñ\n", ["Zürich 東京 🌷", "ñ"]), ("\u{1B}[31mred\u{1B}[0m\n", ["\u{1B}[31mred\u{1B}[0m"]),
        ]
    )
    func splits(text: String, expected: [String]) throws {
        let lines = try SplitVerifier().verify(Array(text.utf8)) { Self.lines($0) }
        #expect(lines.map(\.text) == expected)
        #expect(lines.allSatisfy { !$0.isCut })
    }

    @Test(
        "Bytes that aren't UTF-8 are written as numbers, and those around them stay",
        arguments: [
            ([0x61, 0xFF, 0x62, 0x0A], "a⟨FF⟩b"), ([0xC3, 0x0A], "⟨C3⟩"), ([0xE2, 0x82, 0x41, 0x0A], "⟨E2⟩⟨82⟩A"),
            ([0xED, 0xA0, 0x80, 0x0A], "⟨ED⟩⟨A0⟩⟨80⟩"), ([0x80, 0xC3, 0xA9], "⟨80⟩é"), ([0xF0, 0x9F], "⟨F0⟩⟨9F⟩"),
        ] as [([UInt8], String)]
    )
    func invalid(bytes: [UInt8], expected: String) throws {
        #expect(try SplitVerifier().verify(bytes) { Self.lines($0) }.map(\.text) == [expected])
    }

    @Test("A line that is too long is cut at a character, the same in every split", arguments: 4...12)
    func cuts(limit: Int) throws {
        let text = "aé東🌷b🌷🌷東é0123456789"
        let lines = try SplitVerifier().verify(Array(text.utf8) + [0x0A, 0x21]) { Self.lines($0, limit: limit) }
        #expect(lines.map(\.text).joined() == text + "!")
        #expect(lines.allSatisfy { $0.text.utf8.count <= limit })
        #expect(lines.dropLast(2).allSatisfy(\.isCut) && lines.suffix(2).allSatisfy { !$0.isCut })
    }

    @Test("Bytes without any line end are held up to the bound")
    func bound() {
        var assembler = LineAssembler(limit: 64)
        let lines = assembler.take([UInt8](repeating: 0x80, count: 1_000)[...])
        #expect(lines.count == 15)
        #expect(assembler.finish()?.text == String(repeating: "⟨80⟩", count: 1_000 - 15 * 64))
        #expect(!assembler.isWaiting)
    }

    @Test("What waits can be had, but for a character that isn't whole")
    func flush() {
        var assembler = LineAssembler()
        #expect(assembler.flush() == nil)
        #expect(assembler.take(Array("Password: ".utf8)[...] + [0xE6, 0x9D]) == [])
        #expect(assembler.flush() == LineAssembler.Line(text: "Password: ", isCut: true))
        #expect(assembler.isWaiting && assembler.flush() == nil)
        #expect(assembler.take([0xB1, 0x0A]) == [LineAssembler.Line(text: "東")])
    }
}
