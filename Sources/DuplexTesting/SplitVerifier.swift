// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Checks that a parser gives the same result in whichever pieces its input arrives.
///
/// The transport cuts a stream wherever it likes, so a parser that gives other results for other pieces is wrong, and
/// its fault shows once in a million connections. The verifier runs the parser over the input whole, byte by byte, cut
/// in two at every position, and cut at random:
///
/// ```swift
/// try SplitVerifier().verify(Array("one\ntwo\n".utf8)) { pieces in
///     var parser = LineParser()
///     return pieces.flatMap { parser.lines(in: $0) }
/// }
/// ```
public struct SplitVerifier: Sendable, Hashable {
    /// What the random cuts derive from; the same seed cuts in the same places.
    public var seed: UInt64
    /// How many times the input is cut at random.
    public var randomSplits: Int
    /// The longest input that is cut in two at every position.
    ///
    /// A longer one is cut at about that many positions: near both ends, and evenly spread between them.
    public var positions: Int

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - seed: what the random cuts derive from. Default: 1.
    ///   - randomSplits: how many times the input is cut at random. Default: 16.
    ///   - positions: the longest input that is cut in two at every position. Default: 1,024 bytes.
    public init(seed: UInt64 = 1, randomSplits: Int = 16, positions: Int = 1_024) {
        self.seed = seed
        self.randomSplits = max(0, randomSplits)
        self.positions = max(1, positions)
    }

    /// The ways in which an input of that many bytes is cut, besides whole.
    public func splits(ofLength count: Int) -> [Split] {
        let random = (0..<randomSplits).map { Split.atRandom(seed: seed &+ UInt64($0)) }
        return [.byteByByte] + cuts(count).map { .inTwo(at: $0) } + random
    }

    private func cuts(_ count: Int) -> [Int] {
        if count <= positions { return Array(0...count) }
        let step = (count + positions - 1) / positions
        return (0...count).filter { $0 % step == 0 || $0 < 16 || $0 > count - 16 }
    }

    /// Runs the parser over the input in every split, and reports the splits whose outcome isn't that of the whole.
    ///
    /// - Parameters:
    ///   - input: the bytes to parse.
    ///   - parse: gives the pieces to a fresh parser, one after the other, and returns all of its output. An error is
    ///     an outcome like any other; two are the same when they print the same.
    /// - Returns: the outcome for the whole input, and the splits that gave another.
    public func report<Result: Equatable & Sendable>(
        on input: [UInt8],
        parse: ([[UInt8]]) throws -> Result
    ) -> SplitReport<Result> {
        let expected = SplitReport<Result>.Outcome(pieces: [input], parse)
        var report = SplitReport(expected: expected)
        for split in splits(ofLength: input.count) {
            let pieces = split.pieces(of: input)
            report.add(SplitReport.Difference(split: split, pieces: pieces, outcome: .init(pieces: pieces, parse)))
        }
        return report
    }

    /// Runs the parser over the input in every split, and returns the one result.
    ///
    /// - Parameters:
    ///   - input: the bytes to parse.
    ///   - parse: gives the pieces to a fresh parser, one after the other, and returns all of its output.
    /// - Returns: what `parse` returned for the whole input, and for every split of it.
    /// - Throws: ``SplitReport`` when the outcomes differ; else the error of `parse`, if every run threw it.
    @discardableResult
    public func verify<Result: Equatable & Sendable>(
        _ input: [UInt8],
        parse: ([[UInt8]]) throws -> Result
    ) throws -> Result {
        let report = report(on: input, parse: parse)
        guard report.isUniform else { throw report }
        switch report.expected {
        case .returned(let result): return result
        case .threw(let error): throw error
        }
    }
}
