// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import Testing

/// What came of feeding a parser: what it returned, what it threw, and how many bytes it took.
package struct Fed<Output: Equatable, Failure: Error & Equatable>: Equatable {
    package var outputs: [Output] = []
    package var failure: Failure?
    package var taken = 0

    package init() {}
}

/// Feeds the pieces one after the other, each until nothing of it is taken any more, and stops at the first error.
package func feed<Output: Equatable, Failure: Error & Equatable>(
    _ pieces: [[UInt8]],
    to receive: (Span<UInt8>, inout Int) throws(Failure) -> Output?
) -> Fed<Output, Failure> {
    var fed = Fed<Output, Failure>()
    for piece in pieces {
        var position = 0
        do throws(Failure) {
            while true {
                let before = position
                if let output = try receive(piece.span, &position) { fed.outputs.append(output) }
                if position == before || position == piece.count { break }
            }
        } catch {
            fed.failure = error
        }
        fed.taken += position
        if fed.failure != nil || position < piece.count { break }
    }
    return fed
}

/// Expects the same outcome for the input whole, byte by byte, cut in two at each place, and cut at random.
///
/// - Parameters:
///   - input: The input; one of more than 1,024 bytes is cut in two at some 200 places and around its ends only.
///   - sourceLocation: Where a difference is reported.
///   - run: Feeds pieces to a fresh parser and returns all that can be told about it afterwards.
/// - Returns: The outcome for the whole input.
@discardableResult
package func expectSameInEverySplit<Outcome: Equatable>(
    _ input: [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation,
    run: ([[UInt8]]) -> Outcome
) -> Outcome {
    let whole = run([input])
    for pieces in splits(of: input) {
        let outcome = run(pieces)
        if outcome != whole {
            let cuts = pieces.count > 8 ? "\(pieces.count) pieces" : "pieces of \(pieces.map(\.count)) bytes"
            Issue.record("\(cuts): \(outcome), but whole: \(whole)", sourceLocation: sourceLocation)
            break
        }
    }
    return whole
}

private func splits(of input: [UInt8]) -> [[[UInt8]]] {
    let step = input.count <= 1_024 ? 1 : input.count / 200
    let places = (0...input.count).filter { $0 % step == 0 || $0 < 5 || $0 > input.count - 5 }
    let twoWay = places.map { [Array(input[..<$0]), Array(input[$0...])] }
    var random = Congruential(state: 20_110_612)
    return [input.map { [$0] }] + twoWay + (0..<16).map { _ in randomPieces(of: input, using: &random) }
}

/// Pieces of 0 to 16 bytes, or of up to an eighth of a long input.
private func randomPieces(of input: [UInt8], using random: inout Congruential) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = input[...]
    while !rest.isEmpty {
        let count = Int.random(in: 0...max(16, input.count / 8), using: &random)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
    }
    return pieces
}

/// A generator that gives the same numbers in every run (Knuth's multiplier for 64 bits).
package struct Congruential: RandomNumberGenerator {
    package var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // The low bits of such a generator have short periods; the high ones are folded onto them.
        return state ^ (state >> 33)
    }
}

/// The bytes of a text in which each line feed stands for CR LF.
package func wire(_ text: String) -> [UInt8] {
    Array(text.utf8).flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
}
