// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexWire

/// Called by libFuzzer for each input.
///
/// Bits of the options: 0 sets tight limits, 1 answers as soon as the head has come, 2 says the length of responses, 3 wants
/// each body, 4 answers when all input has come; 5 and 6 choose the status.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let outcome = sameInEverySplit(input) { pieces in
        let run = ExchangeRun(options: input.options)
        for piece in pieces { run.receive(piece) }
        return run.end()
    }
    // The shortest request has 18 bytes: GET / HTTP/1.0 and two line ends; a violation is answered, too.
    require(outcome.answers.count <= input.bytes.count / 18 + 1, "there are more responses than requests can be")
    require(outcome.output.count <= 400 * (input.bytes.count / 18 + 1), "more was sent than was asked for")
    return 0
}
