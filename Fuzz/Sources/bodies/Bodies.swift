// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport
import HTTPTypes

@testable import DuplexWire

/// All that a decoder tells of one body.
struct Outcome: Equatable {
    var body: [UInt8] = []
    var trailers: [HTTPFields] = []
    var taken = 0
    var error: HTTPProtocolError?
}

/// Called by libFuzzer for each input.
///
/// Of the options, bit 0 chooses a body that is counted and bit 1 tight limits; the other six are the count.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    var limits = HTTPLimits.internet
    if input.options & 2 != 0 {
        limits.headSize = 64
        limits.headFields = 3
        limits.bodySize = 64
    }
    let framing = input.options & 1 != 0 ? BodyFraming.length(Int(input.options >> 2)) : .chunked
    let outcome = sameInEverySplit(input) { decode($0, framing, limits) }
    require(outcome.body.count <= limits.bodySize.bytes, "a body is longer than allowed")
    require(outcome.body.count <= outcome.taken, "more of a body came out than went in")
    require(outcome.trailers.count <= 1, "a body ends more than once")
    require(outcome.error == nil || outcome.trailers.isEmpty, "a body ends and has failed")
    for trailers in outcome.trailers { check(trailers, limits) }
    return 0
}

private func check(_ trailers: HTTPFields, _ limits: HTTPLimits) {
    require(trailers.count <= limits.headFields, "there are more trailers than allowed")
    for name in [HTTPField.Name.contentLength, .transferEncoding, .connection, .trailer, .authorization] {
        require(!trailers.contains(name), "\(name) comes too late")
    }
}

private func decode(_ pieces: [[UInt8]], _ framing: BodyFraming, _ limits: HTTPLimits) -> Outcome {
    var outcome = Outcome()
    do throws(HTTPProtocolError) {
        var decoder = try BodyDecoder(framing, limits: limits)
        // A body that has no bytes ends without any.
        for input in pieces + [[]] {
            var position = 0
            defer { outcome.taken += position }
            while let piece = try decoder.next(input.span, from: &position) {
                switch piece {
                case .data(let range):
                    require(!range.isEmpty && range.upperBound == position, "a piece isn't what was taken")
                    outcome.body += input[range]
                case .end(let trailers): outcome.trailers.append(trailers)
                }
            }
            require(decoder.isComplete || position == input.count, "bytes of a body were left")
        }
    } catch {
        outcome.error = error
    }
    return outcome
}
