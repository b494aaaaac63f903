// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexDeflate

@Suite("The engine that inflates")
struct InflateEngineTests {
    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    /// "a" and a match of 258 bytes, 24,576 back, in a block with fixed codes; behind it as much as ISA-L needs to hurry.
    private static let farMatch: [UInt8] = [0x4A, 0x1C, 0xBD, 0xFF, 0xFF] + [UInt8](repeating: 0x55, count: 300)

    @Test("A stream goes on where it was, with its window, after another has used the engine")
    func streams() throws {
        let engine = try #require(InflateEngine())
        let first = InflateStream(windowBits: 8)
        engine.use(first)
        var position = 0
        var output: [UInt8] = []
        let hello = Self.hello
        #expect(engine.inflate(rawSpan(of: hello), from: &position) == .inputTaken && engine.waiting == 5)
        engine.give(into: &output, upTo: 3)
        first.isMidMessage = true
        engine.use(InflateStream(windowBits: 8))
        #expect(engine.waiting == 0)
        engine.use(first)
        engine.give(into: &output, upTo: 3)
        #expect(output == Array("Hello".utf8))
    }

    @Test("Of what is corrupt nothing waits but what is right before it, whatever was in the buffer")
    func leavesNothingBehind() throws {
        let engine = try #require(InflateEngine())
        engine.use(InflateStream(windowBits: 15))
        var position = 0
        // Bytes that must not come out again.
        let secret = deflated([UInt8](repeating: 0x53, count: 60_000), by: Deflater())
        #expect(engine.inflate(rawSpan(of: secret), from: &position) == .inputTaken)
        let next = InflateStream(windowBits: 15)
        engine.use(next)
        position = 0
        let payload = Self.farMatch
        #expect(engine.inflate(rawSpan(of: payload), from: &position) == .corrupt)
        var output: [UInt8] = []
        engine.give(into: &output, upTo: 100_000)
        #expect(output == Array("a".utf8) && engine.waiting == 0)
    }

    /// A block with fixed codes that gives so many letters, six empty ones, and the beginning of one that there isn't.
    private static func full(_ count: Int) -> [UInt8] {
        var bits: [Bool] = []
        func number(_ value: Int, _ count: Int) { for bit in 0..<count { bits.append(value >> bit & 1 == 1) } }
        func code(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        number(0b010, 3)
        let letters = 1 + (count - 1) % 258
        for _ in 0..<letters { code(0x30 + 0x61, 8) }
        for _ in 0..<(count - 1) / 258 {
            code(0xC5, 8)
            code(0, 5)
        }
        code(0, 7)
        for _ in 0..<6 {
            number(0, 3)
            while bits.count % 8 != 0 { bits.append(false) }
            number(0xFFFF_0000, 32)
        }
        number(0b110, 3)
        while bits.count % 8 != 0 { bits.append(false) }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 | (bits[start + $1] ? 1 << UInt8($1) : 0) }
        }
        return bytes + [UInt8](repeating: 0, count: 10)
    }

    @Test(
        "What is corrupt behind a buffer that is full to the last byte is given up, and all before it is given",
        .timeLimit(minutes: 1),
        arguments: [0, 1, 40_000, 49_151]
    )
    func fullBuffer(before: Int) throws {
        var position = 0
        var output: [UInt8] = []
        for count in (65_530 - before)...(65_540 - before) {
            let engine = try #require(InflateEngine())
            engine.use(InflateStream(windowBits: 15))
            position = 0
            if before > 0 {
                let letters = [UInt8](repeating: 0x62, count: before)
                let first = deflated(letters, by: Deflater(.init(windowBits: 15))) + [0, 0, 0xFF, 0xFF]
                #expect(engine.inflate(rawSpan(of: first), from: &position) == .inputTaken)
                output = []
                engine.give(into: &output, upTo: 100_000)
            }
            let input = Self.full(count)
            var text: [UInt8] = []
            position = 0
            var status = InflateEngine.Status.bufferFull
            while status == .bufferFull {
                status = engine.inflate(rawSpan(of: input), from: &position)
                engine.give(into: &text, upTo: 100_000)
            }
            #expect(status == .corrupt && text.count == count && text.allSatisfy { $0 == 0x61 }, "\(count)")
        }
    }
}
