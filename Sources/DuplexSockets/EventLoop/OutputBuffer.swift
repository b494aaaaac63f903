// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Bytes that a connection has still to send, lent by its loop's ``OutputPool`` while there are any.
@safe final class OutputBuffer {
    /// The block that the buffer begins with each time it is lent.
    private let home: UnsafeMutableRawBufferPointer
    /// The block that holds what waits: `home`, or a larger one.
    private var block: UnsafeMutableRawBufferPointer
    /// The next one in the pool, while this one is there.
    @safe @exclusivity(unchecked) var next: OutputBuffer?
    private var start = 0
    private var end = 0

    /// The least that is allocated for what doesn't fit into `home`: 16 KiB, so that growing costs one allocation and not a
    /// series.
    private static let smallestMove = 16 * 1_024

    init() {
        unsafe home = .allocate(byteCount: OutputPool.blockSize, alignment: 16)
        unsafe block = unsafe home
    }

    deinit {
        removeAll()
        unsafe home.deallocate()
    }

    /// The number of bytes that wait.
    var count: Int { end &- start }

    /// Appends up to `capacity` bytes that `body` writes.
    func append(capacity: Int, _ body: (inout OutputRawSpan) -> Void) {
        let block = unsafe reserve(capacity)
        let free = unsafe UnsafeMutableRawBufferPointer(rebasing: block[end..<block.count])
        var output = unsafe OutputRawSpan(buffer: free, initializedCount: 0)
        body(&output)
        end += unsafe output.finalize(for: free)
    }

    /// Appends a copy of the bytes.
    func append(_ bytes: RawSpan) {
        guard !bytes.isEmpty else { return }
        let block = unsafe reserve(bytes.byteCount)
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(rebasing: block[end..<block.count]).copyMemory(from: source)
        }
        end += bytes.byteCount
    }

    /// Appends the lowest `size` bytes of `head`, which are no more than eight, and a copy of the bytes behind them.
    @inline(__always)
    func append(_ head: UInt64, _ size: Int, then bytes: RawSpan) {
        precondition((0...8).contains(size), "A head has no more than eight bytes.")
        // All of the head is stored, so that there must be room for it; the bytes lie over what isn't wanted of it.
        let block = unsafe reserve(8 + bytes.byteCount)
        unsafe block.storeBytes(of: head.littleEndian, toByteOffset: end, as: UInt64.self)
        unsafe bytes.withUnsafeBytes { source in
            guard let base = block.baseAddress, let start = source.baseAddress else { return }
            unsafe (base + end + size).copyMemory(from: start, byteCount: source.count)
        }
        // No overflow: both lie in the block.
        end &+= size &+ bytes.byteCount
    }

    /// Appends a copy of the pieces but for that many bytes of them.
    func append(_ pieces: ArraySlice<[UInt8]>, from position: Int) {
        var position = position
        _ = unsafe reserve(pieces.reduce(-position) { $0 + $1.count })
        for piece in pieces {
            let skipped = min(position, piece.count)
            position -= skipped
            append(piece.span.raw.extracting(droppingFirst: skipped))
        }
    }

    /// Hands over what waits, and forgets as many bytes of it as `body` has taken.
    func consume<Failure>(_ body: (RawSpan) throws(Failure) -> Int) throws(Failure) {
        let waiting = unsafe UnsafeRawBufferPointer(rebasing: block[start..<end])
        drop(try body(unsafe waiting.bytes))
    }

    /// Lends the place of what waits, which is sent from there.
    @inline(__always)
    func withWaiting<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeRawBufferPointer(rebasing: block[start..<end]))
    }

    /// Forgets what waits.
    func removeAll() {
        drop(count)
    }

    /// Forgets as many bytes, which were sent.
    @inline(__always)
    func drop(_ sent: Int) {
        start += sent
        guard start == end else { return }
        start = 0
        end = 0
        if unsafe block.baseAddress != home.baseAddress { unsafe block.deallocate() }
        unsafe block = unsafe home
    }

    /// Makes room for that many bytes behind what waits.
    private func reserve(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
        if unsafe block.count - end < capacity { move(capacity: capacity) }
        return unsafe block
    }

    private func move(capacity: Int) {
        let waiting = count
        // At least twice what waits, so that a buffer that grows byte by byte copies each byte a bounded number of times.
        let size = max(waiting + capacity, 2 * waiting, Self.smallestMove)
        let new = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        unsafe new.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[start..<end]))
        drop(waiting)
        unsafe block = new
        end = waiting
    }
}

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
