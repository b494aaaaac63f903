// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Raw bytes")
struct RawBytesTests {
    static let bytes = (0..<64).map { UInt8($0 * 3 + 1) }

    @Test("Words and keys are read at every alignment")
    func loads() {
        for offset in 0...56 {
            let word = Self.bytes[offset..<(offset + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            #expect(Self.bytes.span.raw.bigEndianWord(at: offset) == word)
            #expect(Self.bytes.span.raw.littleEndianWord(at: offset) == word.byteSwapped)
            #expect(keyBytes(Self.bytes.span.raw.key(at: offset)) == Array(Self.bytes[offset..<(offset + 4)]))
            #expect(Self.bytes.span.raw.byte(at: offset) == Self.bytes[offset])
        }
    }

    @Test("A block is ASCII unless one of its 32 bytes has its highest bit set", arguments: 0...40)
    func asciiBlock(offset: Int) {
        var bytes = [UInt8](repeating: 0x80, count: 80)
        for index in offset..<(offset + 32) { bytes[index] = UInt8(index) }
        let isASCII = bytes.span.raw.isASCIIBlock(at: offset)
        #expect(isASCII)
        for place in offset..<(offset + 32) {
            var spoilt = bytes
            spoilt[place] |= 0x80
            let isStillASCII = spoilt.span.raw.isASCIIBlock(at: offset)
            #expect(!isStillASCII, "\(place)")
        }
    }

    @Test("Bytes are appended to arrays and output spans as they are")
    func appending() {
        var array: [UInt8] = [9]
        array.append(Self.bytes.span.raw)
        array.append([UInt8]().span.raw)
        #expect(array == [9] + Self.bytes)
        let output = written(room: 65) { output in
            output.append(UInt8(9))
            output.append([UInt8]().span.raw)
            output.append(Self.bytes.span.raw)
        }
        #expect(output == array)
    }

    @Test("The last bytes of an output are masked, and no others", arguments: 0...64)
    func maskLast(count: Int) {
        let output = written(room: 64) { output in
            output.append(Self.bytes.span.raw)
            output.maskLast(count, with: 0xA1B2_C3D4)
        }
        let last = maskedByLoop(Array(Self.bytes.suffix(count)), with: keyBytes(0xA1B2_C3D4))
        #expect(output == Self.bytes.prefix(64 - count) + last)
    }

    @Test("A write that has no room, and a range outside the span, stop the process")
    func bounds() async {
        await #expect(processExitsWith: .failure) {
            _ = written(room: 3) { $0.append([UInt8](repeating: 0, count: 4).span.raw) }
        }
        await #expect(processExitsWith: .failure) {
            _ = written(room: 8) { $0.maskLast(1, with: 1) }
        }
        await #expect(processExitsWith: .failure) {
            _ = changed([1, 2, 3]) { $0.mask(1..<4, with: 1) }
        }
        await #expect(processExitsWith: .failure) {
            _ = [UInt8](repeating: 0, count: 8).span.raw.bigEndianWord(at: 1)
        }
        await #expect(processExitsWith: .failure) {
            _ = [UInt8](repeating: 0, count: 32).span.raw.isASCIIBlock(at: 1)
        }
    }
}

@Suite("Masking")
struct MaskingTests {
    static let key: UInt32 = 0x8D4E_2B17

    @Test("A key rotated by a count is the key for the byte after that many")
    func rotation() {
        for count in 0...9 {
            let rotated = keyBytes(Masking.rotated(Self.key, by: count))
            #expect(rotated == (0..<4).map { keyBytes(Self.key)[($0 + count) % 4] })
        }
    }

    @Test("Masking is that of a loop over bytes, at every alignment, length and phase", arguments: 0...63)
    func againstLoop(alignment: Int) {
        var generator = SeededGenerator(seed: UInt64(alignment))
        let source = generator.bytes(alignment + 208)
        for phase in 0..<4 {
            let key = Masking.rotated(Self.key, by: phase)
            let loop = maskedByLoop(Array(source[alignment...]), with: keyBytes(key))
            for length in 0...200 {
                let range = alignment..<(alignment + length)
                let expected = source[..<alignment] + loop[..<length] + source[range.upperBound...]
                if changed(source, { $0.mask(range, with: key) }) != Array(expected) {
                    Issue.record("length \(length), phase \(phase)")
                }
            }
        }
    }

    @Test("Masking in pieces with the key rotated between them is masking at once", arguments: 0...40)
    func inPieces(cut: Int) {
        let source = Array(UInt8(0)..<41)
        let whole = changed(source) { $0.mask(0..<41, with: Self.key) }
        let pieces = changed(source) { bytes in
            bytes.mask(0..<cut, with: Self.key)
            bytes.mask(cut..<41, with: Masking.rotated(Self.key, by: cut))
        }
        #expect(pieces == whole)
    }

    @Test("Masking twice is doing nothing")
    func involution() {
        let source = Array(UInt8(0)..<150)
        let twice = changed(source) { bytes in
            bytes.mask(0..<150, with: Self.key)
            bytes.mask(0..<150, with: Self.key)
        }
        #expect(twice == source)
    }
}
