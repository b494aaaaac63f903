// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexWire

/// All that a parser tells of one stream.
struct Outcome: Equatable {
    var items: [EventStreamItem] = []
    var lastEventID = ""
    var error: EventStreamError?
}

/// Called by libFuzzer for each input.
///
/// Of the options, bit 0 chooses tight limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let isTight = input.options & 1 != 0
    let limits = isTight ? EventStreamLimits(lineSize: 16, eventSize: 24) : EventStreamLimits()
    let outcome = sameInEverySplit(input) { parse($0, limits) }
    for item in outcome.items { check(item, limits) }
    return 0
}

private func parse(_ pieces: [[UInt8]], _ limits: EventStreamLimits) -> Outcome {
    var parser = EventStreamParser(limits: limits)
    var outcome = Outcome()
    do throws(EventStreamError) {
        for piece in pieces {
            var position = 0
            while let item = try parser.next(piece.span, from: &position) { outcome.items.append(item) }
            require(position == piece.count, "bytes of a stream were left")
        }
    } catch {
        outcome.error = error
    }
    outcome.lastEventID = parser.lastEventID
    return outcome
}

/// What has come is written so that it comes again.
private func check(_ item: EventStreamItem, _ limits: EventStreamLimits) {
    guard case .event(let type, let data, let id) = item else { return }
    // What isn't UTF-8 has become longer, three bytes for one.
    require(data.utf8.count <= 3 * limits.eventSize.bytes, "an event has more data than allowed")
    // Data with U+0000 and the like may come, and isn't sent.
    guard let event = try? ServerSentEvent(data, event: type, id: id) else { return }
    let again = parse([event.bytes], EventStreamLimits())
    require(again.items == [item], "\(item) was written, and \(again.items) read")
}
