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
