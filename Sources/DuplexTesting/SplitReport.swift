// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The outcomes of running a parser over one input in many splits.
///
/// Printed, it has the outcome for the whole input, and the splits with another outcome.
public struct SplitReport<Result: Equatable & Sendable>: Error {
    /// How a run ended.
    public enum Outcome: Equatable, Sendable {
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
        public static func == (left: Outcome, right: Outcome) -> Bool {
            switch (left, right) {
            case (.returned(let left), .returned(let right)): left == right
            // Errors need not be comparable, but they all print.
            case (.threw(let left), .threw(let right)): String(reflecting: left) == String(reflecting: right)
            default: false
            }
        }
    }

    /// A split whose outcome isn't that of the whole input.
    public struct Difference: Sendable {
        /// How the input was cut.
        public let split: Split
        /// The pieces that it was cut into.
        public let pieces: [[UInt8]]
        /// The result for them.
        public let outcome: Outcome
    }

    /// The outcome for the whole input.
    public let expected: Outcome
    /// The number of runs, the one over the whole input counted.
    public private(set) var runs = 1
    /// The splits that gave something else.
    public private(set) var differences: [Difference] = []

    init(expected: Outcome) {
        self.expected = expected
    }

    /// Whether every split gave the same.
    public var isUniform: Bool { differences.isEmpty }

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
