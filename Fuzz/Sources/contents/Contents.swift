// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

// These are not public: connections use them.
@testable import DuplexDeflate
@testable import DuplexWire

/// What comes out, up to the fault where there is one.
///
/// How much does before it depends on the pieces, and so does whether the limit or the fault is met first.
struct Outcome: Equatable {
    var content: [UInt8] = []
    var hasFailed = false

    static func == (one: Outcome, other: Outcome) -> Bool {
        guard one.hasFailed == other.hasFailed else { return false }
        if !one.hasFailed { return one.content == other.content }
        let common = min(one.content.count, other.content.count)
        return one.content.prefix(common) == other.content.prefix(common)
    }
}

private let limit = 100_000

/// Called by libFuzzer for each input.
///
/// Of the options, the first two bits choose the codings; with bit 2 the bytes are put into them first, in the pieces, and
/// must come out as they were.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let codings: [[ContentCoding]] = [[.gzip], [.deflate], [.gzip, .deflate], [.gzip, .gzip]]
    let chosen = codings[Int(input.options & 3)]
    if input.options & 4 != 0 {
        checkRoundTrip(input, chosen)
    } else {
        let outcome = sameInEverySplit(input) { inflate($0, chosen) }
        require(outcome.content.count <= limit, "more came out than allowed")
    }
    return 0
}

private func inflate(_ pieces: [[UInt8]], _ codings: [ContentCoding]) -> Outcome {
    let inflater = ContentInflater(codings, upTo: ByteCount(limit), pool: ContentPool())
    var outcome = Outcome()
    do throws(HTTPProtocolError) {
        for piece in pieces {
            inflater.take(piece)
            while let output = try inflater.next() {
                require(!output.isEmpty && output.count <= 64 * 1_024, "a piece has \(output.count) bytes")
                outcome.content += output
            }
        }
        try inflater.finish()
    } catch {
        outcome.hasFailed = true
    }
    return outcome
}

private func checkRoundTrip(_ input: FuzzInput, _ codings: [ContentCoding]) {
    let pool = ContentPool()
    var pieces = input.pieces
    for coding in codings {
        guard let deflater = ContentDeflater(coding, level: 6, isWhole: input.options & 8 != 0, pool: pool) else {
            return
        }
        let flushes = input.options & 16 != 0
        var coded: [[UInt8]] = []
        for piece in pieces {
            var output: [UInt8] = []
            deflater.deflate(rawSpan(of: piece), flushes: flushes, into: &output)
            coded.append(output)
        }
        var end: [UInt8] = []
        deflater.finish(into: &end)
        pieces = coded + [end]
    }
    let outcome = inflate(pieces, codings)
    require(!outcome.hasFailed && outcome.content == input.bytes, "\(codings) gave \(outcome.content.count) bytes")
}

@_lifetime(borrow bytes)
private func rawSpan(of bytes: borrowing [UInt8]) -> RawSpan {
    // Bytes have no padding.
    unsafe bytes.span.bytes
}
