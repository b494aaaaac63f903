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
    private func checkWriting() throws {
        if let refusal = writingRefusal { throw refusal }
        try Task.checkCancellation()
    }

    /// Why nothing can be written; `nil` when something can.
    private var writingRefusal: SocketError? {
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
        channel.value.setWaterMarks(high: high, low: low)
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

    // MARK: Files and long writes

    /// Writes a part of a file, after what was written before and in front of what is written after.
    ///
    /// The system moves the bytes from the file to the connection by itself (sendfile(2)) where it can. What isn't in
    /// the system's cache is read by a thread first, up to 1 MiB at a time: a slow disk delays no other connection of
    /// the loop.
    ///
    /// Returns once the system has taken all. A write that is cancelled, times out or finds the file cut short fails
    /// alone as long as nothing of the file was sent. After that the peer would take later bytes for the rest of the
    /// file, so the connection is reset, and everything else fails with ``SocketError/Code/closed``. The same goes for
    /// closing the socket meanwhile.
    ///
    /// - Parameters:
    ///   - path: of a regular file; opened before the call waits.
    ///   - offset: where to begin. Default: the beginning of the file.
    ///   - count: how many bytes. Default: up to the end that the file has now.
    ///   - timeout: how long it may take at most, waiting for its turn included. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    ///   - progress: called each time the system has taken bytes.
    /// - Returns: how many bytes were written.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``, also when the file is shorter than said;
    ///   otherwise as ``write(_:timeout:extend:)-([UInt8],_,_)``.
    @discardableResult
    public func writeFile(
        _ path: String,
        offset: UInt64 = 0,
        count: UInt64? = nil,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil,
        progress: WriteProgress? = nil
    ) async throws -> UInt64 {
        try checkWriting()
        let file = try FileRange(path: path, offset: offset, count: count)
        return try await transfer(.file(file), timeout, extend, progress)
    }

    /// Writes a part of a file that is open; see ``writeFile(_:offset:count:timeout:extend:progress:)``.
    ///
    /// - Parameters:
    ///   - descriptor: of a regular file that is open for reading. It stays the caller's, who may close it meanwhile;
    ///     its position doesn't matter and isn't changed.
    ///   - offset: as in ``writeFile(_:offset:count:timeout:extend:progress:)``, and so are the others.
    ///   - count: how many bytes.
    ///   - timeout: how long it may take.
    ///   - extend: may give more time.
    ///   - progress: called with what was taken.
    /// - Returns: how many bytes were written.
    /// - Throws: as ``writeFile(_:offset:count:timeout:extend:progress:)``.
    @discardableResult
    public func writeFile(
        descriptor: Int32,
        offset: UInt64 = 0,
        count: UInt64? = nil,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil,
        progress: WriteProgress? = nil
    ) async throws -> UInt64 {
        try checkWriting()
        let file = try FileRange(descriptor: descriptor, offset: offset, count: count)
        return try await transfer(.file(file), timeout, extend, progress)
    }

    /// Writes bytes, and reports progress.
    ///
    /// Returns once the system has taken all, later than ``write(_:timeout:extend:)-([UInt8],_,_)``, to which it is the
    /// same otherwise: cancelling or timing out ends the wait and the progress, and the bytes still go out.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - timeout: how long to wait at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    ///   - progress: called each time the system has taken bytes, at most 64 KiB of them.
    /// - Throws: as ``write(_:timeout:extend:)-([UInt8],_,_)``.
    public func write(
        _ bytes: [UInt8],
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil,
        progress: @escaping WriteProgress
    ) async throws {
        try checkWriting()
        _ = try await transfer(.bytes([bytes]), timeout, extend, progress)
    }

    // MARK: Waiting

    /// Sends in turn, and waits until all has gone.
    func transfer(
        _ content: Transfer.Content,
        _ timeout: Duration?,
        _ extend: TimeoutExtension?,
        _ progress: WriteProgress?
    ) async throws -> UInt64 {
        try SocketError.check(timeout: timeout)
        let id = nextID()
        return try await waitOnLoop(id: id) { waiter in
            if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else if let refusal = writingRefusal {
                waiter.resume(throwing: refusal)
            } else {
                start(
                    Transfer(
                        content,
                        id: id,
                        waiter: waiter,
                        began: channel.value.core.now,
                        timer: timeout.map(startTimer),
                        extend: extend,
                        progress: progress
                    )
                )
            }
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.abandonTransfer({ $0.id == id }, CancellationError()) }
            }
        }
    }

    private func start(_ transfer: Transfer) {
        transfers.append(transfer)
        if transfers.count == 1 { channel.value.handlerSends = true }
    }

    /// Ends the wait for a transfer before its end: bytes still go out, and a file that has begun takes the connection along.
    private func abandonTransfer(_ isMeant: (Transfer) -> Bool, _ error: any Error) {
        guard let index = transfers.firstIndex(where: { isMeant($0) && $0.waiter != nil }) else { return }
        let transfer = transfers[index]
        if transfer.isFile && transfer.taken == 0 {
            transfers.remove(at: index)
            endWait(of: transfer, .failure(error))
            // The next one may have waited behind one that waits for the disk.
            if transfers.isEmpty { transfersEnded() } else { channel.value.handlerSends = true }
        } else {
            endWait(of: transfer, .failure(error))
            if transfer.isFile { cutOff() }
        }
        closeIfDone()
    }

    /// Resets the connection, as the peer has a part of a file.
    private func cutOff() {
        reset(because: "A file that was being written was cut off, and the connection was reset.")
    }

    private func endWait(of transfer: Transfer, _ result: sending Result<UInt64, any Error>) {
        if let timer = transfer.timer { channel.value.core.cancel(timer) }
        transfer.timer = nil
        transfer.progress = nil
        transfer.waiter.take()?.resume(with: result)
    }

    /// Fails all that waits for its turn.
    func failTransfers(_ error: SocketError) {
        while let transfer = transfers.popFirst() { endWait(of: transfer, .failure(error)) }
    }

    /// Gives the bytes that wait for their turn to the channel at once.
    func queueTransfers() {
        guard !transfers.isEmpty else { return }
        channel.value.handlerSends = false
        for transfer in transfers {
            let before = transfer.taken
            transfer.queueRest(to: channel.value)
            writtenCount += transfer.taken - before
        }
    }

    /// Fails the transfer that has that timer, unless it is given more time.
    func timeOutTransfer(_ timer: TimerID, _ error: SocketError) {
        guard let transfer = transfers.first(where: { $0.timer == timer }) else { return }
        let elapsed = transfer.began.duration(to: channel.value.core.now)
        if let more = transfer.extend?(elapsed, Int(clamping: transfer.reported)), more > .zero {
            if transfer.waiter != nil { transfer.timer = startTimer(more) }
            return
        }
        transfer.timer = nil
        abandonTransfer({ $0 === transfer }, error)
    }

    // MARK: Sending

    /// Sends as much as goes now; the channel is empty.
    func sendTransfers() -> TransferResult {
        resumeWriters()
        while let transfer = transfers.first {
            tellProgress(of: transfer)
            // The callback may have closed the socket.
            guard transfers.first === transfer else { continue }
            if transfer.isTaken {
                transfers.removeFirst()
                endWait(of: transfer, .success(transfer.total))
                continue
            }
            let before = transfer.taken
            do throws(SocketError) {
                let mayBeDirect = sendsFilesDirectly && !channel.value.isSecured
                let step = try transfer.move(to: channel.value, mayBeDirect: mayBeDirect)
                writtenCount += transfer.taken - before
                switch step {
                case .sent where transfer.isTaken: continue
                case .sent: tellProgress(of: transfer)
                case .queued, .wouldBlock: break
                case .notCached: readAhead(of: transfer)
                case .disconnected(let code): return .failed(code)
                }
                return .wouldBlock
            } catch {
                abandonTransfer({ $0 === transfer }, error)
                if failure != nil { return .wouldBlock }
            }
        }
        if failure == nil { transfersEnded() }
        return .wouldBlock
    }

    /// Goes on once the system has in its cache what comes next.
    private func readAhead(of transfer: Transfer) {
        channel.value.handlerSends = false
        transfer.readAhead(on: loop) {
            self.assumeIsolated { socket in
                if socket.failure == nil && !socket.transfers.isEmpty { socket.channel.value.handlerSends = true }
            }
        }
    }

    private func tellProgress(of transfer: Transfer) {
        guard transfer.reported < transfer.taken else { return }
        transfer.reported = transfer.taken
        transfer.progress?(transfer.taken)
    }

    private func transfersEnded() {
        guard failure == nil else { return }
        channel.value.handlerSends = false
        if hasFinishedWriting { channel.value.finishWriting() }
        closeIfDone()
    }
}
