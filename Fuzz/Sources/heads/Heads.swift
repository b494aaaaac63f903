// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport
import HTTPTypes

@testable import DuplexWire

/// What came of a row of heads.
struct Outcome<Head: Equatable>: Equatable {
    var heads: [Head] = []
    var error: HTTPProtocolError?
    var taken = 0
    var isMidHead = false
}

/// Called by libFuzzer for each input.
///
/// Bit 0 of the options chooses responses, bit 1 tight limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    var limits = HTTPLimits.internet
    if input.options & 2 != 0 {
        limits.headSize = 64
        limits.headFields = 3
    }
    if input.options & 1 != 0 {
        check(sameInEverySplit(input) { responses($0, limits) }, input, limits)
    } else {
        check(sameInEverySplit(input) { requests($0, limits) }, input, limits)
    }
    return 0
}

private func check<Head>(_ outcome: Outcome<Head>, _ input: FuzzInput, _ limits: HTTPLimits) {
    require(outcome.taken <= input.bytes.count, "more was taken than there is")
    require(outcome.error != nil || outcome.taken == input.bytes.count, "bytes were left without an error")
    // The shortest head has sixteen bytes: a start line of twelve and two line ends.
    require(outcome.heads.count <= input.bytes.count / 16, "there are more heads than the bytes can hold")
}

private func requests(_ pieces: [[UInt8]], _ limits: HTTPLimits) -> Outcome<RequestHead> {
    var parser = RequestHeadParser(limits: limits)
    // What is as in the head before is taken over; input that comes in pieces is read line by line, and has to say the same.
    var last: RequestHeadText?
    var outcome = feed(pieces) { bytes, position throws(HTTPProtocolError) in
        let head = try parser.parse(bytes, from: &position, last: last)
        if let head { last = head.text }
        return head
    }
    outcome.isMidHead = parser.isMidHead
    for head in outcome.heads {
        require(head.headers.count <= limits.headFields, "a head has more fields than allowed")
        require(head.target.utf8.count <= limits.headSize.bytes, "a target is longer than the head may be")
    }
    return outcome
}

private func responses(_ pieces: [[UInt8]], _ limits: HTTPLimits) -> Outcome<ResponseHead> {
    var parser = ResponseHeadParser(limits: limits)
    var outcome = feed(pieces) { bytes, position throws(HTTPProtocolError) in try parser.parse(bytes, from: &position) }
    outcome.isMidHead = parser.isMidHead
    for head in outcome.heads {
        require((100...599).contains(head.status.code), "a status lies outside its range")
        require(head.headers.count <= limits.headFields, "a head has more fields than allowed")
    }
    return outcome
}

/// Gives the pieces to a parser up to the first error.
private func feed<Head>(
    _ pieces: [[UInt8]],
    to parse: (Span<UInt8>, inout Int) throws(HTTPProtocolError) -> Head?
) -> Outcome<Head> {
    var outcome = Outcome<Head>()
    for piece in pieces {
        var position = 0
        do throws(HTTPProtocolError) {
            while let head = try parse(piece.span, &position) { outcome.heads.append(head) }
        } catch {
            outcome.error = error
        }
        outcome.taken += position
        if outcome.error != nil { return outcome }
    }
    return outcome
}
