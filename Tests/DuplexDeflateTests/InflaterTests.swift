// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexTesting
import DuplexWire
import Testing

@Suite("Inflating messages")
struct InflaterTests {
    /// Deflated messages of RFC 7692 section 7.2.3, and what they say.
    static let examples: [[UInt8]] = [
        // 7.2.3.1: one block, with fixed codes.
        [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        // 7.2.3.3: not compressed.
        [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
        // 7.2.3.4: a block that says to be the last, and the beginning of another.
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
        // The same without what follows it.
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        // 7.2.3.5: two blocks.
        [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
    ]

    @Test("The examples of RFC 7692 section 7.2.3, in every split", arguments: examples)
    func theExamples(payload: [UInt8]) throws {
        for room in [1, 2, 1_000] {
            let result = try SplitVerifier().verify(payload) { inflated($0, by: Inflater(), room: room) }
            #expect(result == Inflated(bytes: Array("Hello".utf8)))
        }
    }

    @Test("A message that refers to the one before (RFC 7692 section 7.2.3.2), with a rest between them or not")
    func context() {
        for rests in [false, true] {
            let inflater = Inflater(windowBits: 8)
            let first = inflated([Self.examples[0]], by: inflater)
            if rests { inflater.rest() }
            #expect(inflater.holdsMemory != rests)
            let second = inflated([[0xF2, 0x00, 0x11, 0x00, 0x00]], by: inflater)
            #expect([first.bytes, second.bytes] == [Array("Hello".utf8), Array("Hello".utf8)])
        }
    }

    @Test("References reach across a block that says to be the last")
    func contextAcrossLastBlock() {
        let inflater = Inflater()
        _ = inflated([Self.examples[2]], by: inflater)
        let second = inflated([[0xF2, 0x00, 0x11, 0x00, 0x00]], by: inflater)
        #expect(second == Inflated(bytes: Array("Hello".utf8)))
    }

    @Test("Without context a reference to the message before is corrupt, as is one at the very beginning")
    func withoutContext() {
        let inflater = Inflater(keepsContext: false)
        _ = inflated([Self.examples[0]], by: inflater)
        let second = inflated([[0xF2, 0x00, 0x11, 0x00, 0x00]], by: inflater)
        #expect(second.progress == .corrupt)
        let first = inflated([[0xF2, 0x00, 0x11, 0x00, 0x00]], by: Inflater())
        #expect(first.progress == .corrupt)
    }

    @Test("Messages round-trip in every split", arguments: Samples.all.indices)
    func roundTrips(index: Int) throws {
        let message = Samples.all[index]
        let payload = deflated(message, by: Deflater())
        let verifier = SplitVerifier(randomSplits: 4, positions: 300)
        let result = try verifier.verify(payload) { inflated($0, by: Inflater(windowBits: 12), room: 4_096) }
        #expect(result == Inflated(bytes: message))
    }

    @Test("A message without payload is an empty one, and the next message is understood")
    func withoutPayload() {
        let inflater = Inflater()
        let messages: [[[UInt8]]] = [[], [Self.examples[0]], [[]], [[0xF2, 0x00, 0x11, 0x00, 0x00]], [[0x00]]]
        let results = messages.map { inflated($0, by: inflater) }
        let hello = Inflated(bytes: Array("Hello".utf8))
        #expect(results == [Inflated(), hello, Inflated(), hello, Inflated()])
    }

    @Test("A bomb stops at the limit: of 1 MB of zeros with a limit of 1,000 bytes no more come")
    func bomb() throws {
        let payload = Texts.tight([UInt8](repeating: 0, count: 1_000_000))
        #expect(payload.count < 1_100)
        let result = try SplitVerifier(randomSplits: 4, positions: 64).verify(payload) {
            inflated($0, by: Inflater(), limit: 1_000, room: 400)
        }
        #expect(result.bytes.count == 1_000 && result.progress == .outputFull)
    }

    @Test("A message that is cut anywhere is corrupt")
    func truncated() {
        let payload = deflated(Samples.text, by: Deflater())
        for count in 1..<payload.count {
            let result = inflated([Array(payload.prefix(count))], by: Inflater())
            #expect(result.progress == .corrupt, "cut at \(count)")
        }
    }

    @Test("A sender that leaves 00 00 FF FF where they are is refused")
    func endIsLeft() {
        let result = inflated([Self.examples[0] + [0x00, 0x00, 0xFF, 0xFF]], by: Inflater())
        #expect(result.progress == .corrupt)
    }

    @Test("Changed bytes give something else or an error, in every split the same, and never more than is allowed")
    func corrupt() throws {
        let payload = deflated(Samples.text, by: Deflater())
        let verifier = SplitVerifier(randomSplits: 2, positions: 8)
        for index in payload.indices {
            var changed = payload
            changed[index] ^= 0x15
            let result = try verifier.verify(changed) { inflated($0, by: Inflater(), limit: 5_000) }
            #expect(result.bytes.count <= 5_000)
        }
    }

    @Test("A block of the reserved type is corrupt at its first byte")
    func reservedBlock() {
        var position = 0
        var bytes: [UInt8] = []
        let payload: [UInt8] = [0x07]
        let progress = Inflater().inflate(rawSpan(of: payload), from: &position, into: &bytes, upTo: 10)
        #expect(progress == .corrupt && bytes.isEmpty)
    }

    @Test("Rest within a message does nothing; stopping gives back all memory")
    func memory() {
        let inflater = Inflater()
        #expect(!inflater.holdsMemory)
        let payload = deflated(Samples.text, by: Deflater())
        var position = 0
        var bytes: [UInt8] = []
        let beginning = Array(payload.prefix(10))
        _ = inflater.inflate(rawSpan(of: beginning), from: &position, into: &bytes, upTo: 1_000)
        inflater.rest()
        #expect(inflater.holdsMemory)
        let result = inflated([Array(payload.dropFirst(10))], by: inflater)
        #expect(bytes + result.bytes == Samples.text)
        inflater.stop()
        #expect(!inflater.holdsMemory)
    }

    @Test("With rests between them messages that refer to each other come through", arguments: 9...15)
    func rests(windowBits: Int) {
        let deflater = Deflater(.init(windowBits: windowBits))
        let inflater = Inflater(windowBits: windowBits)
        for message in Samples.all + Samples.all {
            let result = inflated([deflated(message, by: deflater)], by: inflater)
            #expect(result == Inflated(bytes: message))
            inflater.rest()
            #expect(!inflater.holdsMemory)
        }
    }
}
