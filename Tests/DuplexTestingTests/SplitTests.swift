// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@Suite("Cutting an input")
struct SplitTests {
    static let input = Array(UInt8(0)..<40)

    @Test("The pieces of each split make up the input again")
    func lossless() {
        let random = (0..<100).map { Split.atRandom(seed: $0) }
        for split in [.whole, .byteByByte, .inTwo(at: 7)] + random {
            #expect(split.pieces(of: Self.input).flatMap { $0 } == Self.input, "\(split)")
            #expect(split.pieces(of: []).flatMap { $0 } == [], "\(split)")
        }
    }

    @Test("Whole is one piece, byte by byte as many as there are bytes, and in two is two")
    func shapes() {
        #expect(Split.whole.pieces(of: Self.input) == [Self.input])
        #expect(Split.byteByByte.pieces(of: [1, 2, 3]) == [[1], [2], [3]])
        #expect(Split.inTwo(at: 0).pieces(of: [1, 2, 3]) == [[], [1, 2, 3]])
        #expect(Split.inTwo(at: 1).pieces(of: [1, 2, 3]) == [[1], [2, 3]])
        #expect(Split.inTwo(at: 3).pieces(of: [1, 2, 3]) == [[1, 2, 3], []])
        #expect(Split.inTwo(at: 9).pieces(of: [1, 2, 3]) == [[1, 2, 3], []])
    }

    @Test("A seed cuts in the same places each time, and seeds cut in different ones")
    func seeds() {
        #expect(Split.atRandom(seed: 3).pieces(of: Self.input) == Split.atRandom(seed: 3).pieces(of: Self.input))
        #expect(Set((0..<20).map { Split.atRandom(seed: $0).pieces(of: Self.input) }).count > 15)
    }

    @Test("Some random pieces are empty")
    func emptyPieces() {
        #expect((0..<20).contains { Split.atRandom(seed: $0).pieces(of: Self.input).contains([]) })
    }

    @Test("A split says what it does")
    func description() {
        let splits: [Split] = [.whole, .byteByByte, .inTwo(at: 4), .atRandom(seed: 9)]
        #expect(splits.map(\.description) == ["whole", "byte by byte", "in two at 4", "at random by seed 9"])
    }
}
