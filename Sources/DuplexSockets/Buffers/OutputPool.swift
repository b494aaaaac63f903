// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Buffers for output, lent to the connections of a loop while they have something to send.
///
/// Nearly all output is gathered and sent within one turn, so a few buffers serve any number of connections and an idle
/// connection owns none.
final class OutputPool {
    /// 2 KiB, what most turns of most connections fit into.
    ///
    /// Not more, because a turn in which many connections are answered takes as many, and their pages stay with the
    /// process.
    static let blockSize = 2 * 1_024
    /// The most buffers that are kept for the next turn: 128 KiB.
    private static let capacity = 64
    /// The buffers that nobody has, each holding the next: taking and giving are a few loads and stores, which an array's
    /// checks for overlapping accesses would be several times of.
    @safe @exclusivity(unchecked) private var first: OutputBuffer?
    private var count = 0

    /// An empty buffer.
    ///
    /// The caller gives it back with ``give(_:)`` once it is empty again, or drops it.
    func take() -> OutputBuffer {
        guard let buffer = first.take() else { return OutputBuffer() }
        first = buffer.next.take()
        count -= 1
        return buffer
    }

    /// Takes an empty buffer back.
    func give(_ buffer: consuming OutputBuffer) {
        guard count < Self.capacity else { return }
        buffer.next = first.take()
        first = consume buffer
        count += 1
    }
}
