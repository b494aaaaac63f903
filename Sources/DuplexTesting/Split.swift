// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A way to cut an input into the pieces in which it arrives.
public enum Split: Sendable, Hashable {
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
    public func pieces(of input: [UInt8]) -> [[UInt8]] {
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
    public var description: String {
        switch self {
        case .whole: "whole"
        case .byteByByte: "byte by byte"
        case .inTwo(let position): "in two at \(position)"
        case .atRandom(let seed): "at random by seed \(seed)"
        }
    }
}
