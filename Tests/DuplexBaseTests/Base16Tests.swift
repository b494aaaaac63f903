// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexBase

@Suite("Base16")
struct Base16Tests {
    @Test("Bytes become two digits each, and come back from digits of either case")
    func both() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Base16.encode(bytes)
        #expect(text.hasPrefix("00010203") && text.hasSuffix("fcfdfeff") && text.utf8.count == 512)
        #expect(Base16.decode(text) == bytes && Base16.decode(text.uppercased()) == bytes)
        #expect(Base16.encode([0x0A, 0xFF, 0], separator: " ") == "0a ff 00")
        #expect(Base16.encode([UInt8]()).isEmpty && Base16.decode("") == [])
    }

    @Test("What isn't pairs of digits is nothing", arguments: ["0", "0g", "abc", "0x", " 00", "é0", "00\u{0}"])
    func malformed(text: String) {
        #expect(Base16.decode(text) == nil)
    }
}

@Suite("Bytes that may not be text, as text")
struct EscapedBytesTests {
    @Test(
        "Text stays as it is, and of other bytes each that isn't UTF-8 is % and two digits",
        arguments: [
            (Array("caf\u{E9} 100%".utf8), "caf\u{E9} 100%"), ([], ""), ([0x63, 0xE9, 0x2E, 0x74], "c%E9.t"),
            ([0xFF], "%FF"),
            ([0x25, 0x46, 0x46, 0xFE], "%25FF%FE"), ([0xC3, 0xA4, 0xFF, 0xC3, 0xA4], "\u{E4}%FF\u{E4}"),
            // A character that is cut off, a longer form of a slash, half a pair, and beyond the last character.
            ([0xE2, 0x98], "%E2%98"), ([0xC0, 0xAF], "%C0%AF"), ([0xED, 0xA0, 0x80], "%ED%A0%80"),
            ([0xF4, 0x90, 0x80, 0x80, 0x61], "%F4%90%80%80a"), ([0x80, 0x61, 0xE2, 0x98, 0x61], "%80a%E2%98a"),
        ]
    )
    func escaping(bytes: [UInt8], text: String) {
        #expect(EscapedBytes.text(of: bytes) == text)
    }

    @Test("Different bytes that aren't UTF-8 become different texts")
    func distinct() {
        let pieces: [[UInt8]] = [[0x25], Array("%FF".utf8), Array("FF".utf8), [0xFF], [0xE2], [0x98], [0xC3, 0xA4]]
        var all: Set<[UInt8]> = []
        for first in pieces { for second in pieces { for third in pieces { all.insert(first + second + third) } } }
        let broken = all.filter { String(validating: $0, as: UTF8.self) == nil }
        #expect(broken.count > 100 && Set(broken.map { EscapedBytes.text(of: $0) }).count == broken.count)
    }
}

@Suite("Byte order marks")
struct ByteOrderMarkTests {
    @Test("A mark at the beginning is taken off, once, and nothing else is")
    func removing() {
        let mark = ByteOrderMark.bytes
        #expect(mark == Array("\u{FEFF}".utf8))
        for (bytes, rest) in [
            (mark, []), (mark + [1], [1]), (mark + mark, mark), ([], []), ([0xEF, 0xBB], [0xEF, 0xBB]),
            ([1] + mark, [1] + mark),
        ] {
            #expect(Array(ByteOrderMark.removed(from: bytes)) == rest)
        }
    }
}
