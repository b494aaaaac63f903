// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Memory for output, lent to the connections of a loop while they have something to send.
///
/// Nearly all output is gathered and sent within one turn, so a few blocks serve any number of connections and an idle
/// connection owns none.
@safe final class OutputPool {
    /// 16 KiB, what most turns of most connections fit into.
    package static let blockSize = 16 * 1_024
    /// The most blocks that are kept for the next turn: 4 MiB.
    private static let capacity = 256
    private var blocks: [UnsafeMutableRawBufferPointer] = unsafe []

    init() {}

    deinit {
        while let block = unsafe blocks.popLast() { unsafe block.deallocate() }
    }

    /// A block of at least that many bytes, its content undefined.
    ///
    /// The caller gives it back with ``give(_:)``.
    func take(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        if count <= Self.blockSize {
            if let block = unsafe blocks.popLast() { return unsafe block }
            return .allocate(byteCount: Self.blockSize, alignment: 16)
        }
        return .allocate(byteCount: count, alignment: 16)
    }

    /// Takes a block back.
    func give(_ block: UnsafeMutableRawBufferPointer) {
        if unsafe block.count == Self.blockSize && blocks.count < Self.capacity {
            unsafe blocks.append(block)
        } else {
            unsafe block.deallocate()
        }
    }
}
