// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexWire

/// Called by libFuzzer for each input.
///
/// Bits of the options: 0 makes it a client, 1 sets tight limits, 2 sends what waits after each event instead of at the
/// end, 3 closes first, 4 pings first, 5 takes messages in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let outcome = sameInEverySplit(input) { pieces in
        let run = SessionRun(options: input.options)
        for piece in pieces { run.receive(piece) }
        return run.end()
    }
    let held = outcome.events.reduce(0) { $0 + $1.payloadSize }
    require(held <= input.bytes.count, "more payload came out than went in")
    // What breaks a rule is told behind what its own frame began with.
    require(outcome.events.count <= input.bytes.count / 2 + 1, "there are more events than frames can be")
    // Each ping that is answered took at least as many bytes, but for the mask of a client's answer; a ping of our own
    // and a close frame come on top.
    require(outcome.output.count <= 3 * input.bytes.count + 300, "more was sent than was asked for")
    return 0
}
