// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct KnownTextTests {
    @Test(
        "A text of any length is found at any place, up to the last byte of the input, and nowhere else",
        arguments: ["a", "host", "12345678", "123456789", "transfer-encoding", "abcdefghijklmnopqrstuvwx"]
    )
    func places(text: String) {
        let known = KnownText(text)
        for before in 0..<10 {
            let bytes = Array(repeating: UInt8(ascii: "."), count: before) + Array(text.utf8)
            for start in 0...(bytes.count + 1) {
                let isThere = known.isAt(start, of: bytes.span.raw)
                #expect(isThere == (start == before), "\(start) of \(before)")
            }
        }
    }

    @Test("A text in lower case is found in either case, and no other byte passes for one of its own")
    func cases() {
        let known = KnownText("host-1")
        let base = Array("HoSt-1".utf8)
        let isFound = known.isAnyCaseAt(0, of: base.span.raw)
        #expect(isFound)
        for index in base.indices {
            for byte in UInt8(0x20)...0xFF {
                var bytes = base
                bytes[index] = byte
                let isFound = known.isAnyCaseAt(0, of: bytes.span.raw)
                let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
                #expect(isFound == (lower == Array("host-1".utf8)[index]), "\(byte) at \(index)")
            }
        }
    }
}
