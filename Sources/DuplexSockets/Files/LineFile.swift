// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Appends lines to a ``RotatingFile`` on a thread of its own, so that who has something to write never waits for the disk.
///
/// The thread is there while something is to be written. A bounded number of lines wait; what comes beyond that, and what the
/// disk doesn't take, is dropped and counted.
package final class LineFile: Sendable {
    /// What became of the lines so far.
    package struct Counts: Sendable, Hashable {
        package var written = 0
        package var dropped = 0
    }

    private struct State {
        var waiting: Deque<[UInt8]> = []
        var isWriting = false
        var counts = Counts()
        /// How many lines were taken, and how many of them are done with.
        var taken = 0
        var done = 0
        /// Those who wait until so many are done with.
        var flushers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes out those who needn't wait any longer.
        mutating func released() -> [CheckedContinuation<Void, Never>] {
            let (done, flushers) = (done, flushers)
            if flushers.isEmpty { return [] }
            self.flushers = flushers.filter { $0.count > done }
            return flushers.filter { $0.count <= done }.map(\.continuation)
        }
    }

    private let state = Mutex(State())
    /// Used by the one thread that writes.
    private let file: Mutex<RotatingFile>
    private let queueLimit: Int
    private let thread: LoopThread

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - sizeLimit: how many bytes it has at most.
    ///   - fileLimit: how many files there are at most.
    ///   - queueLimit: how many lines wait at most.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package init(path: String, sizeLimit: Int, fileLimit: Int, queueLimit: Int) throws(SocketError) {
        file = Mutex(try RotatingFile(path: path, sizeLimit: sizeLimit, fileLimit: fileLimit))
        self.queueLimit = max(1, queueLimit)
        thread = LoopThread(name: "duplex-lines")
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Has a line appended, without waiting; from any thread.
    package func append(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        let mayStart = state.withLock { state -> Bool in
            guard state.waiting.count < queueLimit else {
                state.counts.dropped += 1
                return false
            }
            state.waiting.append(bytes)
            state.taken += 1
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mayStart { start() }
    }

    /// Waits until everything that was appended before is written or dropped.
    package func flush() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state -> Bool in
                if state.done < state.taken { state.flushers.append((state.taken, continuation)) }
                return state.done == state.taken
            }
            if isIdle { continuation.resume() }
        }
    }

    private func start() {
        do {
            try thread.start { self.write() }
        } catch {
            // Without a thread nothing can be written.
            let flushers = state.withLock { state in
                state.counts.dropped += state.waiting.count
                state.done += state.waiting.count
                state.waiting = []
                state.isWriting = false
                return state.released()
            }
            for flusher in flushers { flusher.resume() }
        }
    }

    private func write() {
        while let line = state.withLock({ $0.waiting.popFirst() }) ?? last() {
            let isWritten = file.withLock { $0.append(line) }
            let flushers = state.withLock { state in
                if isWritten { state.counts.written += 1 } else { state.counts.dropped += 1 }
                state.done += 1
                return state.released()
            }
            for flusher in flushers { flusher.resume() }
        }
    }

    /// Ends the writing, unless another line has come.
    private func last() -> [UInt8]? {
        state.withLock { state in
            if let line = state.waiting.popFirst() { return line }
            state.isWriting = false
            return nil
        }
    }

    /// Has writing wait while `body` runs, for tests.
    func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
        try file.withLock { _ in try body() }
    }
}
