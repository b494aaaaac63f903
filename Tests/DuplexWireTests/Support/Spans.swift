// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The bytes that `body` writes into a span with exactly that much room.
func written(room: Int, _ body: (inout OutputRawSpan) -> Void) -> [UInt8] {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { unsafe block.deallocate() }
    var output = unsafe OutputRawSpan(buffer: block, initializedCount: 0)
    body(&output)
    let count = unsafe output.finalize(for: block)
    return unsafe Array(block.prefix(count))
}

/// The bytes after `body` has changed them in place.
func changed(_ bytes: [UInt8], _ body: (inout MutableRawSpan) -> Void) -> [UInt8] {
    var bytes = bytes
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    body(&raw)
    return bytes
}

/// The bytes masked one at a time, as RFC 6455 section 5.3 writes it down.
func maskedByLoop(_ bytes: [UInt8], with key: [UInt8]) -> [UInt8] {
    bytes.indices.map { bytes[$0] ^ key[$0 % 4] }
}

/// The four bytes of a key whose first byte is the lowest.
func keyBytes(_ key: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: key >> UInt32(8 * $0)) }
}
