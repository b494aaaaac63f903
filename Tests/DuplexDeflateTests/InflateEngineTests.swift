// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
}
