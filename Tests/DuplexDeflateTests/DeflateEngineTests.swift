// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexDeflate

@Suite("The engine that deflates")
struct DeflateEngineTests {
    @Test("No reference reaches further than the window, and zlib with that window understands all", arguments: 8...15)
    func windows(bits: Int) throws {
        var generator = SeededGenerator(seed: UInt64(bits))
        for level in 0...3 {
            let engine = try #require(DeflateEngine(level: level))
            let inflater = try #require(ZlibStream(.inflating(windowBits: bits)))
            var window = DeflateWindow(bits: bits)
            for _ in 0..<60 {
                let message = Texts.message(upTo: 3 << bits, using: &generator)
                var payload: [UInt8] = []
                engine.begin(window: window.bytes, windowBits: bits, isShort: true)
                engine.deflate(rawSpan(of: message), .sync, into: &payload)
                window.append(rawSpan(of: message))
                #expect(payload.suffix(4) == [0, 0, 0xFF, 0xFF])
                // Piece by piece, so that zlib has nothing but its window to refer to.
                var output: [UInt8] = []
                var position = 0
                while position < payload.count,
                    inflater.run(rawSpan(of: payload), from: &position, into: &output, upTo: 64) != .corrupt
                {}
                let nothing: [UInt8] = []
                position = 0
                while inflater.run(rawSpan(of: nothing), from: &position, into: &output, upTo: 64) == .outputFull {}
                #expect(output == message, "level \(level)")
            }
        }
    }
}
