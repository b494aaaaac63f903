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

    @Test("The window is what was given last, as long as there is of it")
    func window() {
        let stream = ZlibStream(.inflating(windowBits: 8))
        #expect(stream?.window() == [])
        var position = 0
        var output: [UInt8] = []
        let input: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let status = stream?.run(rawSpan(of: input), from: &position, into: &output, upTo: 100)
        #expect(status == .inputTaken && output == Array("Hello".utf8))
        #expect(stream?.window() == Array("Hello".utf8))
    }
}
