// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexBase

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
