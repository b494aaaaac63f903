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
    package var seed: UInt64
    /// How many times the input is cut at random.
    package var randomSplits: Int
    /// The longest input that is cut in two at every position.
    ///
    /// A longer one is cut at about that many positions: near both ends, and evenly spread between them.
    package var positions: Int

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
    package func splits(ofLength count: Int) -> [Split] {
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
    package func report<Result: Equatable & Sendable>(
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
    /// - Throws: an error that names the splits, if the outcomes differ; else the error of `parse`, if every run threw it.
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

/// A way to cut an input into the pieces in which it arrives.
package enum Split: Sendable, Hashable {
    /// One piece.
    case whole
    /// A piece for each byte.
    case byteByByte
    /// Two pieces, the first of that many bytes; at 0 and at the end one of them is empty.
    case inTwo(at: Int)
    /// Pieces of random lengths, empty ones among them; the same for the same seed.
    case atRandom(seed: UInt64)

    /// The pieces of an input, which make up the input again when they are put together.
    ///
    /// A position after the end of the input cuts at its end.
    package func pieces(of input: [UInt8]) -> [[UInt8]] {
        switch self {
        case .whole: [input]
        case .byteByByte: input.map { [$0] }
        case .inTwo(let position): [Array(input.prefix(position)), Array(input.dropFirst(position))]
        case .atRandom(let seed): Self.randomPieces(of: input, seed)
        }
    }

    private static func randomPieces(of input: [UInt8], _ seed: UInt64) -> [[UInt8]] {
        var generator = SeededGenerator(seed: seed)
        // Some seeds cut finely, others coarsely: both find faults that the other doesn't.
        let longest = Int.random(in: 1...max(16, input.count / 2), using: &generator)
        var pieces: [[UInt8]] = []
        var rest = input[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...longest, using: &generator))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}

extension Split: CustomStringConvertible {
    /// How the input is cut, in words.
    package var description: String {
        switch self {
        case .whole: "whole"
        case .byteByByte: "byte by byte"
        case .inTwo(let position): "in two at \(position)"
        case .atRandom(let seed): "at random by seed \(seed)"
        }
    }
}

/// The outcomes of running a parser over one input in many splits.
///
/// Printed, it has the outcome for the whole input, and the splits with another outcome.
package struct SplitReport<Result: Equatable & Sendable>: Error {
    /// How a run ended.
    package enum Outcome: Equatable, Sendable {
        /// The parser returned that.
        case returned(Result)
        /// The parser threw that.
        case threw(any Error)

        init(pieces: [[UInt8]], _ parse: ([[UInt8]]) throws -> Result) {
            do {
                self = .returned(try parse(pieces))
            } catch {
                self = .threw(error)
            }
        }

        /// Whether both returned the same, or threw errors that print the same.
        package static func == (left: Outcome, right: Outcome) -> Bool {
            switch (left, right) {
            case (.returned(let left), .returned(let right)): left == right
            // Errors need not be comparable, but they all print.
            case (.threw(let left), .threw(let right)): String(reflecting: left) == String(reflecting: right)
            default: false
            }
        }
    }

    /// A split whose outcome isn't that of the whole input.
    package struct Difference: Sendable {
        /// How the input was cut.
        package let split: Split
        /// The pieces that it was cut into.
        package let pieces: [[UInt8]]
        /// The result for them.
        package let outcome: Outcome
    }

    /// The outcome for the whole input.
    package let expected: Outcome
    /// The number of runs, the one over the whole input counted.
    package private(set) var runs = 1
    /// The splits that gave something else.
    package private(set) var differences: [Difference] = []

    init(expected: Outcome) {
        self.expected = expected
    }

    /// Whether every split gave the same.
    package var isUniform: Bool { differences.isEmpty }

    mutating func add(_ run: Difference) {
        runs += 1
        if run.outcome != expected { differences.append(run) }
    }
}

extension SplitReport: CustomStringConvertible {
    /// What the whole input gave, and up to ten of the splits that gave something else.
    public var description: String {
        if isUniform { return "\(runs) runs gave the same: \(expected)" }
        let shown = differences.prefix(10).map(\.description)
        let rest = differences.count - shown.count
        let lines = ["\(differences.count) of \(runs) runs differ", "whole: \(expected)"] + shown
        return (lines + (rest > 0 ? ["and \(rest) more"] : [])).joined(separator: "\n  ")
    }
}

extension SplitReport.Difference: CustomStringConvertible {
    /// The split, the lengths of its pieces if there are few, and the outcome.
    public var description: String {
        let lengths = pieces.count > 16 ? "\(pieces.count) pieces" : "lengths \(pieces.map(\.count))"
        return "\(split) (\(lengths)): \(outcome)"
    }
}

extension SplitReport.Outcome: CustomStringConvertible {
    /// What was returned or thrown, and which of the two.
    public var description: String {
        switch self {
        case .returned(let result): "returned \(result)"
        case .threw(let error): "threw \(error)"
        }
    }
}
