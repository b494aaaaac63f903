// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

// The inspector reads and writes archives, and nobody else.
@testable import DuplexInspector

/// Called by libFuzzer for each input: an HTTP archive that somebody has sent.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    guard let reading = try? HARFile.read(input.bytes) else { return 0 }
    let entries = reading.recording.exchanges.count + reading.recording.connections.count
    require(entries + reading.skipped <= input.bytes.count, "\(entries) entries are read of \(input.bytes.count) bytes")
    do {
        let written = try HARFile.write(reading.recording)
        let again = try HARFile.read(written)
        let count = again.recording.exchanges.count + again.recording.connections.count
        require(count == entries && again.skipped == 0, "of \(entries) entries \(count) were read again")
        // What an archive can't say is gone by then.
        let last = try HARFile.write(again.recording)
        require(try HARFile.read(last).recording.exchanges.count == again.recording.exchanges.count, "entries are lost")
    } catch {
        // A finding, as of `require`.
        fatalError("what was read of an archive can't be written and read again: \(error)")
    }
    _ = PcapngFile.write(reading.recording)
    return 0
}
