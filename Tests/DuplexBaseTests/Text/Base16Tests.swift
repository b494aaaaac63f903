// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

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
