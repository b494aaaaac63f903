// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// An input of the fuzzer: what to test, how to cut, and the bytes that a peer sends.
public struct FuzzInput {
    /// Which variant of the target is run; each target gives the bits their meaning.
    public let options: UInt8
    /// The sizes of the pieces into which the bytes are cut, in turn; never all zero.
    private let sizes: [Int]
    /// What the peer sends.
    public let bytes: [UInt8]

    /// Takes an input apart: a byte of options, four of sizes, and the rest.
    ///
    /// - Returns: `nil` for one that is too short.
    public init?(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        guard count >= 5 else { return nil }
        // libFuzzer hands over `count` readable bytes.
        let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
        options = input[0]
        let sizes = input[1..<5].map { Int($0) }
        self.sizes = sizes.contains { $0 > 0 } ? sizes : [1]
        bytes = Array(input[5...])
    }

    /// The bytes in the pieces that the input asks for, empty ones among them.
    public var pieces: [[UInt8]] { pieces(of: bytes) }

    /// Any bytes in the pieces that the input asks for.
    public func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(sizes[pieces.count % sizes.count])
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    /// A piece for each of the first 128 bytes, and one for the rest: a piece for every byte would make few runs of many.
    var firstBytes: [[UInt8]] {
        bytes.prefix(128).map { [$0] } + [Array(bytes.dropFirst(128))]
    }
}

/// Ends the process, which is a finding, unless what must hold does.
public func require(_ holds: Bool, _ message: @autoclosure () -> String) {
    if !holds { fatalError(message()) }
}

/// Runs a parser over the bytes whole, in the pieces that the input asks for, and byte by byte at the beginning.
///
/// A difference is a finding.
///
/// - Parameters:
///   - input: the input.
///   - parse: gives pieces to a fresh parser and returns all that came of them.
/// - Returns: what came of each.
public func sameInEverySplit<Result: Equatable>(_ input: FuzzInput, parse: ([[UInt8]]) -> Result) -> Result {
    let whole = parse([input.bytes])
    for pieces in [input.pieces, input.firstBytes] {
        let result = parse(pieces)
        require(result == whole, "pieces of \(pieces.map(\.count)) gave\n\(result)\nbut the whole gave\n\(whole)")
    }
    return whole
}
