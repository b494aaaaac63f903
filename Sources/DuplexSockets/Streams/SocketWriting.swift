// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

// From the app to the channel, and the writes that wait for room.

extension Socket {
    /// Bytes from this size on are sent from where they lie, and only what the socket doesn't take is copied.
    private static let directSize = 16 * 1_024

    /// Writes bytes, behind those of earlier calls and never mixed with them.
    ///
    /// Returns once the bytes are sent or wait behind less than the high-water mark (64 KiB): a slow peer slows the
    /// writer down. Cancelling or timing out ends the wait; the bytes were taken over by then and still go out.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - timeout: how long to wait for room at most; for ever unless told otherwise.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut``, ``SocketError/Code/connectionReset`` or
    ///   ``SocketError/Code/closed``; `CancellationError`.
    public func write(_ bytes: [UInt8], timeout: Duration? = nil) async throws {
        try await write([bytes], timeout: timeout)
    }

    /// Writes a text as UTF-8; see ``write(_:timeout:)-([UInt8],_)``.
    public func write(_ text: String, timeout: Duration? = nil) async throws {
        try await write(Array(text.utf8), timeout: timeout)
    }

    /// Writes several pieces as one: nothing comes between them, and what is small goes out in one system call.
    ///
    /// See ``write(_:timeout:)-([UInt8],_)``.
    public func write(_ pieces: [[UInt8]], timeout: Duration? = nil) async throws {
        if let failure { throw failure }
        if hasFinishedWriting {
            throw SocketError(.closed, message: "This side has finished writing.")
        }
        try Task.checkCancellation()
        for piece in pieces { put(piece.span.raw) }
        guard channel.value.isAboveHighWaterMark else { return }
        let id = nextID()
        try await waitOnLoop(id: id) { waiter in
            waitForRoom(waiter, timeout)
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.endWrite({ $0.waiter.id == id }, .failure(CancellationError())) }
            }
        }
    }

    private func put(_ bytes: RawSpan) {
        bytesWritten += UInt64(bytes.byteCount)
        if bytes.byteCount >= Self.directSize {
            channel.value.writeNow(bytes)
        } else {
            channel.value.write(bytes)
        }
    }

    /// Keeps the writer until there is room, if there still is none.
    private func waitForRoom(_ waiter: Waiter<Void>, _ timeout: Duration?) {
        if let failure {
            waiter.resume(throwing: failure)
        } else if !channel.value.isAboveHighWaterMark {
            waiter.resume(returning: ())
        } else if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
        } else {
            writers.append(Writer(waiter: waiter, timer: timeout.map(startTimer)))
        }
    }

    func endWrite(_ isMeant: (Writer) -> Bool, _ result: Result<Void, any Error>) {
        guard let index = writers.firstIndex(where: isMeant) else { return }
        let writer = writers.remove(at: index)
        if let timer = writer.timer { channel.value.core.cancel(timer) }
        writer.waiter.resume(with: result)
    }

    /// Says that this side writes nothing more; the peer sees the end of the stream once all bytes have arrived.
    ///
    /// Reading goes on.
    public func finishWriting() {
        hasFinishedWriting = true
        channel.value.finishWriting()
    }
}
