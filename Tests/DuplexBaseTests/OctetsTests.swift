// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite struct OctetsTests {
    @Test("Bytes are the same as raw bytes, lent as numbers, and in a copy")
    func roundTrip() {
        let bytes: [UInt8] = [0, 1, 127, 128, 255]
        let raw = bytes.span.raw
        #expect(raw.byteCount == bytes.count)
        #expect([UInt8](copying: raw) == bytes)
        let lent = raw.withOctets { span in span.indices.map { span[$0] } }
        #expect(lent == bytes)
    }

    @Test("A part of a span is copied alone, and an empty one gives nothing")
    func parts() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        #expect([UInt8](copying: bytes.span.raw.extracting(droppingFirst: 2)) == [3, 4])
        #expect([UInt8](copying: [UInt8]().span.raw) == [])
        let count = [UInt8]().span.raw.withOctets { $0.count }
        #expect(count == 0)
    }

    @Test("Numbers are appended as they are read")
    func decimals() {
        var numbers = [0, 9, 10, 99, 100, 999, 1_000, 9_999, 10_000, 10_001, 99_999_999, 100_000_000, .max]
        numbers += (0..<62).map { 1 << $0 }
        for number in numbers {
            var bytes = Array("=".utf8)
            bytes.append(decimal: number)
            #expect(String(decoding: bytes, as: UTF8.self) == "=\(number)")
        }
    }
}
