// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@Suite("Verifying a parser in every split")
struct SplitVerifierTests {
    struct Refusal: Error, Equatable {
        let position: Int
    }

    /// Sums bytes up to a zero; right in every split.
    static func sums(_ pieces: [[UInt8]]) -> [Int] {
        var sums = [0]
        for byte in pieces.joined() {
            if byte == 0 { sums.append(0) } else { sums[sums.count - 1] += Int(byte) }
        }
        return sums
    }

    /// Counts the pairs 13, 10, but forgets a 13 at the end of a piece.
    static func forgetfulPairs(_ pieces: [[UInt8]]) -> Int {
        pieces.reduce(0) { $0 + zip($1, $1.dropFirst()).count { $0 == (13, 10) } }
    }

    @Test("A parser that is right gives its result")
    func uniform() throws {
        let input: [UInt8] = [1, 2, 0, 3, 0, 0, 4]
        #expect(try SplitVerifier().verify(input, parse: Self.sums) == [3, 3, 0, 4])
        let report = SplitVerifier(randomSplits: 5).report(on: input, parse: Self.sums)
        #expect(report.isUniform)
        #expect(report.runs == 1 + 1 + 8 + 5)
        #expect(report.description == "15 runs gave the same: returned [3, 3, 0, 4]")
    }

    @Test("A parser that forgets what stood before a cut is found, and the cut is named")
    func forgetful() throws {
        let input: [UInt8] = [65, 13, 10, 66]
        let report = SplitVerifier(randomSplits: 0).report(on: input, parse: Self.forgetfulPairs)
        #expect(report.expected == .returned(1))
        #expect(report.differences.map(\.split) == [.byteByByte, .inTwo(at: 2)])
        #expect(report.differences.map(\.outcome) == [.returned(0), .returned(0)])
        #expect(report.differences.last?.pieces == [[65, 13], [10, 66]])
        #expect(
            report.description == """
                2 of 7 runs differ
                  whole: returned 1
                  byte by byte (lengths [1, 1, 1, 1]): returned 0
                  in two at 2 (lengths [2, 2]): returned 0
                """
        )
        #expect(throws: SplitReport<Int>.self) { try SplitVerifier().verify(input, parse: Self.forgetfulPairs) }
    }

    @Test("An error that comes in every split is thrown on")
    func sameError() {
        #expect(throws: Refusal(position: 2)) {
            try SplitVerifier().verify([1, 2, 3]) { _ -> Int in throw Refusal(position: 2) }
        }
    }

    @Test("An error that differs, or comes in some splits only, is a difference")
    func otherError() {
        let differing = SplitVerifier(randomSplits: 0).report(on: [1, 2, 3]) { pieces -> Int in
            throw Refusal(position: pieces[0].count)
        }
        #expect(differing.differences.map(\.split) == [.byteByByte, .inTwo(at: 0), .inTwo(at: 1), .inTwo(at: 2)])
        let sometimes = SplitVerifier(randomSplits: 0).report(on: [1, 2]) { pieces -> Int in
            if pieces.contains([2]) { throw Refusal(position: 1) }
            return 0
        }
        #expect(sometimes.differences.map(\.split) == [.byteByByte, .inTwo(at: 1)])
        #expect(sometimes.description.contains("threw Refusal(position: 1)"))
    }

    @Test("Random cuts find what two pieces don't", arguments: [UInt64(1), 2, 3])
    func random(seed: UInt64) {
        let input = Array(repeating: UInt8(7), count: 64)
        let report = SplitVerifier(seed: seed, randomSplits: 32).report(on: input) { pieces in
            pieces.count > 2 && pieces.count < 64
        }
        #expect(!report.isUniform)
        #expect(report.differences.allSatisfy { if case .atRandom = $0.split { true } else { false } })
    }

    @Test("A long input is cut at its ends and at evenly spread positions, within the bound")
    func longInput() {
        let splits = SplitVerifier(randomSplits: 0, positions: 100).splits(ofLength: 10_000)
        #expect(splits.count <= 100 + 34)
        for position in [0, 1, 15, 100, 5_000, 9_985, 10_000] {
            #expect(splits.contains(.inTwo(at: position)), "\(position)")
        }
        #expect(!splits.contains(.inTwo(at: 50)))
    }

    @Test("An empty input is verified too")
    func empty() throws {
        #expect(try SplitVerifier().verify([], parse: Self.sums) == [0])
    }
}

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

@Suite("Reporting the splits that differ")
struct SplitReportTests {
    typealias Outcome = SplitReport<Int>.Outcome

    struct Refusal: Error {
        let position: Int
    }

    @Test("Outcomes are the same when the results are equal or the errors print the same")
    func outcomes() {
        #expect(Outcome.returned(1) == .returned(1))
        #expect(Outcome.returned(1) != .returned(2))
        #expect(Outcome.threw(Refusal(position: 1)) == .threw(Refusal(position: 1)))
        #expect(Outcome.threw(Refusal(position: 1)) != .threw(Refusal(position: 2)))
        #expect(Outcome.threw(Refusal(position: 1)) != .returned(1))
    }

    @Test("At most ten differences are written out")
    func manyDifferences() {
        let report = SplitVerifier(randomSplits: 0).report(on: [UInt8](repeating: 0, count: 20)) { $0.map(\.count) }
        #expect(report.differences.count == 22)
        #expect(report.description.hasSuffix("and 12 more"))
    }
}
