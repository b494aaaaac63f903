// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

// From the app to the channel, and the writes that wait for room.

extension Socket {
    /// Bytes from this size on are sent from where they lie, and only what the socket doesn't take is copied.
    private static let directSize = 16 * 1_024

    /// Writes bytes, after those of earlier calls and never mixed with them.
    ///
    /// Returns once the bytes are sent or wait behind less than the high-water mark (default: 64 KiB): a slow peer
    /// slows the writer down. Cancelling or timing out ends the wait; the bytes are still sent. After a file, it waits
    /// for the file. Even for a fast peer it waits a moment every 1 MiB, so that others on the loop have their turn.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - timeout: how long to wait for room at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut``, ``SocketError/Code/connectionReset`` or
    ///   ``SocketError/Code/closed``; `CancellationError`.
    public nonisolated func write(
        _ bytes: [UInt8],
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws {
        try SocketError.check(timeout: timeout)
        // A task on the loop comes and goes without a hop, each of which takes a lock of the runtime.
        let placed = loop.isCurrent ? try onLoop(loop, bytes, { try $0.place($1) }) : try await place(bytes)
        switch placed {
        case .done: return
        case .waits(let range): try await waitForRoom(range, timeout, extend)
        case .hasToQueue: _ = try await transfer(.bytes([bytes]), timeout, extend, nil)
        }
    }

    /// The result of writing bytes at once.
    private enum Placement {
        case done
        /// They wait above the high-water mark, and are these of the stream.
        case waits(Range<UInt64>)
        /// Nothing was written yet: transfers are under way.
        case hasToQueue
    }

    /// Most find room: without an array around them, and without a wait.
    private func place(_ bytes: [UInt8]) throws -> Placement {
        try checkWriting()
        guard transfers.isEmpty else { return .hasToQueue }
        let start = writtenCount
        put(bytes.span.raw)
        try checkSent(since: start)
        return channel.value.isAboveHighWaterMark ? .waits(start..<writtenCount) : .done
    }

    /// Checks that the system has taken what was just written, or the channel holds it: what a send has failed with counts
    /// for nothing.
    @inline(__always)
    private func checkSent(since start: UInt64) throws(SocketError) {
        if let error = channel.value.sendError {
            writtenCount = start
            throw error
        }
    }

    /// Writes a text as UTF-8; see ``write(_:timeout:extend:)-([UInt8],_,_)``.
    public nonisolated func write(
        _ text: String,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws {
        try await write(Array(text.utf8), timeout: timeout, extend: extend)
    }

    /// Writes several pieces as one: nothing comes between them, and they go out in one system call as far as they fit into one
    /// and the socket takes them.
    ///
    /// Up to 64 places go into one call (sendmsg(2)); pieces of less than 2 KiB that follow each other are put together into one.
    /// Pieces of less than 16 KiB together are copied and go out with what else is written in that turn of the loop.
    /// See ``write(_:timeout:extend:)-([UInt8],_,_)``.
    public func write(
        _ pieces: [[UInt8]],
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws {
        try SocketError.check(timeout: timeout)
        try checkWriting()
        if !transfers.isEmpty {
            _ = try await transfer(.bytes(pieces), timeout, extend, nil)
            return
        }
        let start = writtenCount
        put(pieces)
        try checkSent(since: start)
        if channel.value.isAboveHighWaterMark { try await waitForRoom(start..<writtenCount, timeout, extend) }
    }

    private func waitForRoom(
        _ range: Range<UInt64>,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) async throws {
        let id = nextID()
        try await waitOnLoop(id: id) { waiter in
            waitForRoom(waiter, range, timeout, extend)
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.endWrite({ $0.waiter.id == id }, .failure(CancellationError())) }
            }
        }
    }

    /// - Throws: why nothing can be written; `CancellationError` for a task that is cancelled.
    func checkWriting() throws {
        if let refusal = writingRefusal { throw refusal }
        try Task.checkCancellation()
    }

    /// Why nothing can be written; `nil` when something can.
    var writingRefusal: SocketError? {
        if let failure { return failure }
        if isClosing { return closingRefusal }
        if hasFinishedWriting { return SocketError(.closed, message: "This side has finished writing.") }
        return channel.value.sendError
    }

    private func put(_ bytes: RawSpan) {
        writtenCount += UInt64(bytes.byteCount)
        if bytes.byteCount >= Self.directSize {
            channel.value.writeNow(bytes)
        } else {
            channel.value.write(bytes)
        }
    }

    private func put(_ pieces: [[UInt8]]) {
        let count = pieces.reduce(0) { $0 + $1.count }
        if count < Self.directSize || pieces.count == 1 {
            for piece in pieces { put(piece.span.raw) }
        } else {
            writtenCount += UInt64(count)
            channel.value.writeNow(pieces)
        }
    }

    /// Keeps the writer until there is room, if there still is none.
    private func waitForRoom(
        _ waiter: Waiter<Void>,
        _ range: Range<UInt64>,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?
    ) {
        if let failure {
            waiter.resume(throwing: failure)
        } else if !channel.value.isAboveHighWaterMark {
            waiter.resume(returning: ())
        } else if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
        } else {
            let began = channel.value.core.now
            let timer = timeout.map(startTimer)
            writers.append(Writer(waiter: waiter, began: began, timer: timer, extend: extend, range: range))
        }
    }

    func endWrite(_ isMeant: (Writer) -> Bool, _ result: Result<Void, any Error>) {
        guard let index = writers.firstIndex(where: isMeant) else { return }
        let writer = writers.remove(at: index)
        if let timer = writer.timer { channel.value.core.cancel(timer) }
        writer.waiter.resume(with: result)
        closeIfDone()
    }

    /// Fails the write that has that timer, unless it is given more time.
    func timeOutWrite(_ timer: TimerID, _ error: SocketError) {
        guard let writer = writers.first(where: { $0.timer == timer }) else { return }
        let elapsed = writer.began.duration(to: channel.value.core.now)
        let sent = writtenCount - UInt64(channel.value.queuedBytes)
        let ofIt = min(max(sent, writer.range.lowerBound), writer.range.upperBound) - writer.range.lowerBound
        let more = writer.extend?(elapsed, Int(clamping: ofIt))
        // Looked for anew, as the closure may have closed the socket.
        guard let index = writers.firstIndex(where: { $0.timer == timer }) else { return }
        if let more, more > .zero {
            writers[index].timer = startTimer(more)
            return
        }
        writers[index].timer = nil
        endWrite({ $0.waiter.id == writer.waiter.id }, .failure(error))
    }

    /// Sets from when on writers wait, and until when.
    ///
    /// A writer waits while more than `high` bytes wait to be sent, until `low` are left. With 0 for both, a write returns
    /// once the system has taken all of it. Writers that wait go on if there is room by the new marks.
    ///
    /// - Parameters:
    ///   - high: the high-water mark in bytes, 0 or more. Before the first call: 65,536.
    ///   - low: the low-water mark in bytes, 0 to `high`. Before the first call: 16,384.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidArgument`` for others.
    public func setWaterMarks(high: Int, low: Int) throws(SocketError) {
        guard 0 <= low, low <= high else {
            throw .invalidArgument("The low-water mark lies between 0 and the high one: \(low), \(high).")
        }
        channel.value.highWaterMark = high
        channel.value.lowWaterMark = low
        if channel.value.queuedBytes <= low { resumeWriters() }
    }

    /// Lets all go on that wait for room.
    func resumeWriters() {
        while !writers.isEmpty { endWrite({ _ in true }, .success(())) }
    }

    /// Says that this side writes nothing more; the peer sees the end of the stream once all bytes have arrived.
    ///
    /// Reading goes on. What waits to be written, files among it, still is.
    public func finishWriting() {
        hasFinishedWriting = true
        if transfers.isEmpty { channel.value.finishWriting() }
    }
}
