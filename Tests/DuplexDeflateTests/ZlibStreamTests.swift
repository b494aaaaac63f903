// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexDeflate

@Suite("zlib's streams")
struct ZlibStreamTests {
    @Test("Numbers that zlib doesn't take make no stream")
    func refuses() {
        // Raw deflate has no window of 8.
        #expect(ZlibStream(.deflating(level: 6, windowBits: 8, memoryLevel: 5)) == nil)
        #expect(ZlibStream(.deflating(level: 10, windowBits: 12, memoryLevel: 5)) == nil)
        #expect(ZlibStream(.inflating(windowBits: 7)) == nil)
        #expect(ZlibStream(.inflating(windowBits: 8)) != nil)
    }
}

@Suite("CRC-32")
struct CRC32Tests {
    @Test("Known values, in every split", arguments: [("", 0), ("a", 0xE8B7_BE43), ("123456789", 0xCBF4_3926)])
    func values(text: String, value: UInt32) {
        let bytes = Array(text.utf8)
        for middle in 0...bytes.count {
            var checksum = CRC32()
            checksum.add(rawSpan(of: Array(bytes[..<middle])))
            checksum.add(rawSpan(of: Array(bytes[middle...])))
            #expect(checksum.value == value)
        }
    }
}
