// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Bytes that a connection has still to send, lent by its loop's ``OutputPool`` while there are any.
@safe final class OutputBuffer {
    /// The block that the buffer begins with each time it is lent.
    private let home: UnsafeMutableRawPointer
    /// The block that holds what waits, `home` or a larger one, and how many bytes it has.
    private var block: UnsafeMutableRawPointer
    private var blockSize = OutputPool.blockSize
    private var start = 0
    private var end = 0

    /// The least that is allocated for what doesn't fit into `home`: 16 KiB, so that growing costs one allocation and not a
    /// series.
    private static let smallestMove = 16 * 1_024

    init() {
        unsafe home = .allocate(byteCount: OutputPool.blockSize, alignment: 16)
        unsafe block = home
    }

    deinit {
        removeAll()
        unsafe home.deallocate()
    }

    /// The number of bytes that wait.
    var count: Int { end &- start }

    /// Appends up to `capacity` bytes that `body` writes.
    func append(capacity: Int, _ body: (inout OutputRawSpan) -> Void) {
        reserve(capacity)
        let free = unsafe UnsafeMutableRawBufferPointer(start: block + end, count: blockSize - end)
        var output = unsafe OutputRawSpan(buffer: free, initializedCount: 0)
        body(&output)
        end += unsafe output.finalize(for: free)
    }

    /// Appends a copy of the bytes.
    func append(_ bytes: RawSpan) {
        guard !bytes.isEmpty else { return }
        reserve(bytes.byteCount)
        unsafe copy(bytes, to: block + end)
        end += bytes.byteCount
    }

    /// Appends the lowest `size` bytes of `head`, which are no more than eight, and a copy of the bytes behind them.
    @inline(__always)
    func append(_ head: UInt64, _ size: Int, then bytes: RawSpan) {
        precondition((0...8).contains(size), "A head has no more than eight bytes.")
        // All of the head is stored, so that there must be room for it; the bytes lie over what isn't wanted of it.
        reserve(8 + bytes.byteCount)
        let place = unsafe block + end
        unsafe place.storeBytes(of: head.littleEndian, as: UInt64.self)
        unsafe copy(bytes, to: place + size)
        // No overflow: both lie in the block.
        end &+= size &+ bytes.byteCount
    }

    /// Copies to a place with room for all.
    @inline(__always)
    private func copy(_ bytes: RawSpan, to place: UnsafeMutableRawPointer) {
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe place.copyMemory(from: start, byteCount: source.count)
        }
    }

    /// Appends a copy of the pieces but for that many bytes of them.
    func append(_ pieces: ArraySlice<[UInt8]>, from position: Int) {
        var position = position
        reserve(pieces.reduce(-position) { $0 + $1.count })
        for piece in pieces {
            let skipped = min(position, piece.count)
            position -= skipped
            append(piece.span.raw.extracting(droppingFirst: skipped))
        }
    }

    /// Hands over what waits, and forgets as many bytes of it as `body` has taken.
    func consume<Failure>(_ body: (RawSpan) throws(Failure) -> Int) throws(Failure) {
        let waiting = unsafe UnsafeRawBufferPointer(start: block + start, count: count)
        drop(try body(unsafe waiting.bytes))
    }

    /// Lends the place of what waits, which is sent from there.
    @inline(__always)
    func withWaiting<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeRawBufferPointer(start: block + start, count: count))
    }

    /// Forgets what waits.
    func removeAll() {
        drop(count)
    }

    /// Forgets as many bytes, which were sent.
    @inline(__always)
    func drop(_ sent: Int) {
        precondition(sent <= count, "More was sent than waited.")
        start &+= sent
        guard start == end else { return }
        start = 0
        end = 0
        if unsafe block != home { leaveBlock() }
    }

    @inline(never)
    private func leaveBlock() {
        unsafe block.deallocate()
        unsafe block = home
        blockSize = OutputPool.blockSize
    }

    /// Makes room for that many bytes behind what waits.
    @inline(__always)
    private func reserve(_ capacity: Int) {
        if blockSize &- end < capacity { move(capacity: capacity) }
    }

    private func move(capacity: Int) {
        let waiting = count
        // At least twice what waits, so that a buffer that grows byte by byte copies each byte a bounded number of times.
        let size = max(waiting + capacity, 2 * waiting, Self.smallestMove)
        let new = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        unsafe new.copyMemory(from: block + start, byteCount: waiting)
        drop(waiting)
        unsafe block = new
        blockSize = size
        end = waiting
    }
}

/// Buffers for output, lent to the connections of a loop while they have something to send.
///
/// Nearly all output is gathered and sent within one turn, so a few buffers serve any number of connections and an idle
/// connection owns none.
@safe final class OutputPool {
    /// 2 KiB, what most turns of most connections fit into.
    ///
    /// Not more, because a turn in which many connections are answered takes as many, and their pages stay with the
    /// process.
    static let blockSize = 2 * 1_024
    /// The most buffers that are kept for the next turn: 128 KiB.
    private static let capacity = 64
    // The buffers that nobody has, each retained when it is given and no longer when it is taken. Neither counts references,
    // nor asks for overlapping accesses, which an array would be several times of.
    private let free: UnsafeMutablePointer<Unmanaged<OutputBuffer>>
    private var count = 0

    init() {
        unsafe free = .allocate(capacity: Self.capacity)
    }

    deinit {
        for index in 0..<count { unsafe free[index].release() }
        unsafe free.deallocate()
    }

    /// An empty buffer.
    ///
    /// The caller gives it back with ``give(_:)`` once it is empty again, or drops it.
    @inline(__always)
    func take() -> OutputBuffer {
        guard count > 0 else { return OutputBuffer() }
        count &-= 1
        return unsafe free[count].takeRetainedValue()
    }

    /// Takes an empty buffer back.
    @inline(__always)
    func give(_ buffer: consuming OutputBuffer) {
        guard count < Self.capacity else { return }
        unsafe (free + count).initialize(to: .passRetained(consume buffer))
        count &+= 1
    }
}

/// Where a channel keeps what waits: a buffer, or none.
///
/// A buffer is moved out to be used and moved back then. An optional would release what it held before, which the compiler
/// can't know to be nothing: some ten instructions for each message.
@safe struct OutputSlot: ~Copyable {
    // Retained while it is here.
    private var buffer: Unmanaged<OutputBuffer>?

    deinit {
        unsafe buffer?.release()
    }

    /// The number of bytes that wait.
    @inline(__always)
    var count: Int {
        unsafe buffer.map { unsafe $0._withUnsafeGuaranteedRef { $0.count } } ?? 0
    }

    /// Moves the buffer out, if there is one.
    @inline(__always)
    mutating func take() -> OutputBuffer? {
        guard let held = unsafe buffer else { return nil }
        unsafe buffer = nil
        return unsafe held.takeRetainedValue()
    }

    /// Moves a buffer in; there must be none.
    @inline(__always)
    mutating func put(_ buffer: consuming OutputBuffer) {
        precondition(unsafe self.buffer == nil, "What waits would be lost.")
        unsafe self.buffer = .passRetained(consume buffer)
    }
}
