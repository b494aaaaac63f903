// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Foundation
import Testing

@testable import DuplexDeflate

@Suite("Inflating is held to zlib")
struct InflaterAgainstZlibTests {
    /// How many streams are tried; more of them in DUPLEX_STREAMS, and others by DUPLEX_SEED.
    private static let count = ProcessInfo.processInfo.environment["DUPLEX_STREAMS"].flatMap { Int($0) } ?? 20_000
    private static let seed = ProcessInfo.processInfo.environment["DUPLEX_SEED"].flatMap { UInt64($0) } ?? 1

    /// Streams that have led somebody astray, or may.
    private static let corpus: [[UInt8]] = [
        // A block of the reserved type; one whose length doesn't agree with its complement; too many codes.
        [0x07], [0x00, 0x01, 0x00, 0x00, 0x00, 0x61], [0xFC, 0xFF, 0xFF, 0xFF],
        // The fixed code that no length has, and a distance beyond the beginning, with little behind it and with much.
        [0x1A, 0x03, 0x00, 0x00], [0x4A, 0x1C, 0xBD, 0xFF, 0xFF],
        [0x4A, 0x1C, 0xBD, 0xFF, 0xFF] + [UInt8](repeating: 0x55, count: 40),
        // Behind a last block: nothing, the beginning of another, another that is the last, what is no block, stored bytes.
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x07], [0x01, 0x01, 0x00, 0xFE, 0xFF, 0x61, 0x00],
        // Empty blocks, and an end that was left where it is.
        [0x00, 0x00, 0x00, 0xFF, 0xFF, 0x00], [0x02, 0x00], [0x03, 0x00], [0x00, 0x00, 0x00, 0xFF, 0xFF],
        // A match that overlaps itself, again and again.
        [0x4A, 0x04, 0x02, 0x00], [0x62, 0x60, 0x18, 0x05, 0x00],
    ]

    @Test("The corpus, in every split", arguments: corpus.indices)
    func theCorpus(index: Int) throws {
        let stream = Self.corpus[index]
        let zlib = try #require(ZlibInflater())
        let expected = inflated([stream], by: zlib, room: 1_000_000)
        for room in [1, 300, 65_536] {
            let ours = try SplitVerifier().verify(stream) { inflated($0, by: Inflater(), room: room) }
            #expect(ours.difference(from: expected, stream, context: []) == nil)
        }
    }

    @Test(
        "The verdict and the bytes are zlib's, for streams that are right, changed or by chance, in every split and window"
    )
    func streams() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let pool = DeflatePool()
        let zlibs = try (8...15).map { try #require(ZlibInflater(windowBits: $0)) }
        var verdicts: [InflateProgress: Int] = [:]
        var faults = 0
        for trial in 0..<Self.count {
            let most = trial % 100 == 0 ? 100_000 : 400
            // Half of them with the largest, in which nothing is left open.
            let windowBits = trial.isMultiple(of: 2) ? 15 : 8 + trial / 2 % 7
            let zlib = zlibs[windowBits - 8]
            zlib.reset()
            let inflater = Inflater(windowBits: windowBits, pool: pool)
            var context: [UInt8] = []
            for _ in 0..<2 {
                let stream = Texts.stream(upTo: most, using: &generator)
                let pieces = Texts.pieces(stream, using: &generator)
                let room = [1, 7, 300, 65_536].randomElement(using: &generator) ?? 1
                let expected = inflated([stream], by: zlib, room: 1_000_000)
                let result = inflated(pieces, by: inflater, room: most > 400 ? 65_536 : room)
                let difference = result.difference(
                    from: expected,
                    stream,
                    context: context,
                    windowBits: windowBits
                )
                if let difference {
                    Issue.record("seed \(Self.seed), trial \(trial), \(windowBits) bits: \(difference), \(stream)")
                    faults += 1
                    if faults > 5 { return }
                }
                verdicts[expected.progress, default: 0] += 1
                if expected.progress != .inputTaken || result.progress != .inputTaken { break }
                context += expected.bytes
                if Int.random(in: 0...3, using: &generator) == 0 { inflater.rest() }
            }
        }
        #expect(verdicts[.inputTaken, default: 0] > Self.count / 8 && verdicts[.corrupt, default: 0] > Self.count / 8)
        print("\(Self.count) trials from seed \(Self.seed): \(verdicts)")
    }

    @Test(
        "Messages at random, every third deflated without reference, come out of one zlib inflater that is kept",
        arguments: [9, 10, 12, 15]
    )
    func keptInflater(windowBits: Int) throws {
        var generator = SeededGenerator(seed: UInt64(windowBits))
        let pool = DeflatePool()
        let settings = Deflater.Settings(windowBits: windowBits)
        let deflater = Deflater(settings, pool: pool)
        let alone = Deflater(settings, keepsContext: false, pool: pool)
        let zlib = try #require(ZlibInflater(windowBits: windowBits))
        for number in 0..<20_000 {
            let message = Texts.message(upTo: number % 50 == 0 ? 10_000 : 300, using: &generator)
            var payload: [UInt8] = []
            if number % 3 == 2 {
                payload = deflated(message, by: alone)
                deflater.follow(rawSpan(of: message))
            } else {
                payload = deflated(message, by: deflater)
            }
            // So little room at a time that zlib has no more than its window to look back to.
            let result = inflated([payload], by: zlib, room: 16)
            if result != Inflated(bytes: message) {
                Issue.record("message \(number) of \(message.count) bytes: \(result.progress), \(result.bytes.count)")
                return
            }
        }
    }
}
