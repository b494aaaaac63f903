// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Closing once what was begun is done.

extension Socket {
    /// What is waited for before the socket closes.
    struct ClosingCondition {
        var reads = false
        var writes = false
    }

    /// Closes the socket, as ``close()`` does, once no read waits any more; at once if none does.
    ///
    /// Reads and writes that are begun from here on fail with ``SocketError/Code/closed``. The reads that wait are served to
    /// the end, however long that takes: their time-outs still hold. Writes that still wait then fail, but what they wrote
    /// goes out; if there is a file among them, the connection is reset. Returns at once. Together with
    /// ``closeAfterWriting()``, both are waited for.
    public func closeAfterReading() {
        closing.reads = true
        closeIfDone()
    }

    /// Closes the socket, as ``close()`` does, once no write waits any more, files among them; at once if none does.
    ///
    /// Reads and writes that are begun from here on fail with ``SocketError/Code/closed``. The writes that wait are done to
    /// the end, however long that takes: their time-outs still hold. What is written and only waits to be sent has the 10
    /// seconds that ``close()`` gives it. Reads that still wait then fail. Returns at once.
    public func closeAfterWriting() {
        closing.writes = true
        closeIfDone()
    }

    /// Closes the socket once neither a read nor a write waits any more; see ``closeAfterReading()`` and
    /// ``closeAfterWriting()``.
    public func closeAfterReadingAndWriting() {
        closing = ClosingCondition(reads: true, writes: true)
        closeIfDone()
    }

    /// Whether no new reads and writes are taken.
    var isClosing: Bool { closing.reads || closing.writes }

    /// What reads and writes get from then on.
    var closingRefusal: SocketError {
        SocketError(.closed, message: "The socket takes nothing new: it closes once what was begun is done.")
    }

    func closeIfDone() {
        guard isClosing, failure == nil else { return }
        if closing.reads && !readers.isEmpty { return }
        if closing.writes && !(writers.isEmpty && transfers.isEmpty) { return }
        close()
    }
}
