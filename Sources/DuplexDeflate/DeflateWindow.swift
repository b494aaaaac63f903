// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase

/// The last bytes that a connection has sent compressed, at most as many as its window has.
struct DeflateWindow {
    private(set) var bytes: [UInt8] = []
    private let size: Int

    /// An empty one.
    ///
    /// - Parameter bits: its exponent.
    init(bits: Int) {
        size = 1 << bits
    }

    /// Takes what was sent.
    mutating func append(_ sent: RawSpan) {
        let count = min(sent.byteCount, size)
        let surplus = bytes.count + count - size
        if surplus > 0 { bytes.removeFirst(surplus) }
        // Grown as it fills, and never beyond its size.
        if bytes.capacity < bytes.count + count {
            bytes.reserveCapacity(min(size, max(2 * bytes.count, bytes.count + count)))
        }
        bytes.append(sent.extracting(last: count))
    }

    /// Forgets all, and gives back its memory.
    mutating func clear() {
        bytes = []
    }
}
