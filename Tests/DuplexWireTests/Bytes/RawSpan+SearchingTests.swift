// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Bytes that are looked for")
struct RawSpanSearchingTests {
    @Test("Text is plain up to each byte that isn't, wherever it stands", arguments: UInt8.min...UInt8.max)
    func plainText(byte: UInt8) {
        let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        for count in [1, 7, 8, 9, 20] {
            for place in 0..<count {
                var bytes = [UInt8](repeating: UInt8(ascii: "!"), count: count)
                bytes[place] = byte
                for start in 0...place {
                    #expect(bytes.span.raw.endOfPlainText(from: start) == (isPlain ? count : place))
                }
                #expect(bytes.span.raw.endOfPlainText(from: place + 1) == count)
            }
        }
    }

    @Test("A byte is found from each place on")
    func offsets() {
        let bytes = Array("abcdefghijkabc".utf8)
        #expect(
            (0...14).map { bytes.span.raw.firstOffset(of: UInt8(ascii: "a"), from: $0) } == [
                0, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, nil, nil, nil,
            ]
        )
    }
}

@Suite("Comparing bytes")
struct RawSpanComparingTests {
    @Test("Bytes are the same when all of them are, at every length; each one counts", arguments: 0...72)
    func comparing(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
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
