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

    /// What differs between the two.
    private static func difference(_ zlib: Inflated, _ ours: Inflated, _ stream: [UInt8], _ context: [UInt8]) -> String?
    {
        if zlib == ours { return nil }
        // Of what ends within a block the last two bytes may be missing.
        let missing = zlib.bytes.count - ours.bytes.count
        if zlib.progress == .corrupt, ours.progress == .corrupt, missing == 1 || missing == 2,
            zlib.bytes.starts(with: ours.bytes)
        {
            return nil
        }
        let reference = ReferenceInflate.message(stream, window: context)
        // Codes that are incomplete zlib refuses at their header, and ISA-L takes.
        if zlib.progress == .corrupt, reference.hasIncompleteCode, ours.bytes == reference.bytes,
            (ours.progress == .corrupt) == reference.isCorrupt
        {
            return nil
        }
        return """
            zlib: \(zlib.progress) after \(zlib.bytes.count), ours: \(ours.progress) after \(ours.bytes.count), \
            reference: \(reference.isCorrupt) after \(reference.bytes.count)
            """
    }

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
            #expect(Self.difference(expected, ours, stream, []) == nil)
        }
    }

    @Test("The verdict and the bytes are zlib's, for streams that are right, changed or by chance, in every split")
    func streams() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let pool = DeflatePool()
        var verdicts: [InflateProgress: Int] = [:]
        var faults = 0
        for trial in 0..<Self.count {
            let most = trial % 100 == 0 ? 100_000 : 400
            let zlib = try #require(ZlibInflater())
            let inflater = Inflater(pool: pool)
            var context: [UInt8] = []
            for _ in 0..<2 {
                let stream = Texts.stream(upTo: most, using: &generator)
                let pieces = Texts.pieces(stream, using: &generator)
                let room = [1, 7, 300, 65_536].randomElement(using: &generator) ?? 1
                let expected = inflated([stream], by: zlib, room: 1_000_000)
                let result = inflated(pieces, by: inflater, room: most > 400 ? 65_536 : room)
                if let difference = Self.difference(expected, result, stream, context) {
                    Issue.record("seed \(Self.seed), trial \(trial): \(difference), \(stream)")
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
}
