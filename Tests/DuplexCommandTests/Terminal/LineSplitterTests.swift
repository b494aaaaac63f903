// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Cutting input into lines")
struct LineSplitterTests {
    @Test(
        "Every line feed ends a line, and the last line needs none",
        arguments: [
            ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\n\nb\n", ["a", "", "b"]),
            ("a\r\nb", ["a\r", "b"]), ("über\n✓\n", ["über", "✓"]),
        ]
    )
    func lines(input: String, lines: [String]) throws {
        #expect(try Self.split([Array(input.utf8)]) == lines)
    }

    @Test("A line may come in pieces, cut within a character")
    func pieces() throws {
        let bytes = Array("über\n✓x\n".utf8)
        for cut in 1..<bytes.count {
            #expect(try Self.split([Array(bytes[..<cut]), Array(bytes[cut...])]) == ["über", "✓x"])
        }
    }

    @Test("A line may be longer than what is read at once")
    func long() throws {
        let line = String(repeating: "0123456789", count: 20_000)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("duplex-lines-\(UUID()).txt")
        try (line + "\nend").write(to: url, atomically: false, encoding: .utf8)
        let file = try FileHandle(forReadingFrom: url)
        try FileManager.default.removeItem(at: url)
        var splitter = LineSplitter(descriptor: file.fileDescriptor)
        #expect(try splitter.next() == line)
        #expect(try splitter.next() == "end")
        #expect(try splitter.next() == nil)
        try file.close()
    }

    @Test("A line that isn't UTF-8 is named by its number, and those before and after it are read")
    func invalid() throws {
        let pipe = try TestPipe()
        pipe.write(Array("one\n".utf8) + [0xFF, 0x0A] + Array("three\n".utf8))
        var splitter = LineSplitter(descriptor: pipe.reading)
        #expect(try splitter.next() == "one")
        #expect(throws: Failure(.failure, "Line 2 of the input isn't UTF-8, so it can't be sent as text.")) {
            try splitter.next()
        }
        #expect(try splitter.next() == "three")
    }

    @Test("A descriptor that can't be read fails")
    func unreadable() {
        var splitter = LineSplitter(descriptor: -1)
        #expect(throws: Failure(.failure, "The input can't be read (errno \(EBADF)).")) { try splitter.next() }
    }

    /// Splits input that arrives in those pieces.
    private static func split(_ pieces: [[UInt8]]) throws -> [String] {
        // Of a socket that keeps packets apart, each read takes one piece.
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
        defer { close(ends[0]) }
        for piece in pieces where !piece.isEmpty {
            try #require(unsafe write(ends[1], piece, piece.count) == piece.count)
        }
        close(ends[1])
        var splitter = LineSplitter(descriptor: ends[0])
        var lines: [String] = []
        while let line = try splitter.next() { lines.append(line) }
        return lines
    }
}
