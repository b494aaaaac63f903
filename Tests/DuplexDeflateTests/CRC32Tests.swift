// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexDeflate

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
