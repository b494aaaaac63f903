// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Comparing bytes")
struct RawSpanComparingTests {
    @Test("Bytes are the same when all of them are, at every length; each one counts", arguments: 0...26)
    func comparing(count: Int) {
        let bytes = (0..<count).map { UInt8($0 * 7) }
        let same = bytes
        #expect(isSame(bytes, same))
        for index in bytes.indices {
            for bit in [1, 0x80] as [UInt8] {
                var other = bytes
                other[index] ^= bit
                #expect(!isSame(bytes, other), "\(index) of \(count)")
            }
        }
        #expect(!isSame(bytes, bytes + [0]))
    }

    private func isSame(_ bytes: [UInt8], _ others: [UInt8]) -> Bool {
        bytes.span.raw.hasSameBytes(as: others.span.raw)
    }
}
