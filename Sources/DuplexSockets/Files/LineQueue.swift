// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Hands lines to a writer on a thread of its own, so that who has a line never waits for a disk or a reader.
///
/// The thread is there while there are lines. A bounded number of them and of their bytes wait; what comes beyond that, and
/// what the writer doesn't take, is dropped and counted.
package final class LineQueue: Sendable {
    /// How many lines were written and how many were not.
    package struct Counts: Sendable, Hashable {
        package var written = 0
        package var dropped = 0
    }

    private struct State {
        var waiting: Deque<[UInt8]> = []
        var waitingBytes = 0
        var isWriting = false
        var counts = Counts()
        /// How many lines were dropped since that was last said among the lines.
        var untold = 0
        /// Whether the last line could be written: else nobody would read about the others either.
        var isWriterWell = true
        /// How many lines were taken, and how many of them are done with.
        var taken = 0
        var done = 0
        /// Those who wait until so many are done with.
        var flushers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func take(_ line: [UInt8]) {
            waiting.append(line)
            waitingBytes += line.count
            taken += 1
        }

        mutating func next() -> [UInt8]? {
            guard let line = waiting.popFirst() else { return nil }
            waitingBytes -= line.count
            return line
        }

        mutating func drop(_ count: Int) {
            counts.dropped += count
            untold += count
        }

        /// Takes out those who needn't wait any longer.
        mutating func released() -> [CheckedContinuation<Void, Never>] {
            let (done, flushers) = (done, flushers)
            if flushers.isEmpty { return [] }
            self.flushers = flushers.filter { $0.count > done }
            return flushers.filter { $0.count <= done }.map(\.continuation)
        }

        /// Takes out everybody.
        mutating func abandoned() -> [CheckedContinuation<Void, Never>] {
            defer { flushers = [] }
            return flushers.map(\.continuation)
        }
    }

    private let state = Mutex(State())
    /// Held while a line is written, so that lines stay whole and in order whoever writes them.
    private let pen = Mutex<Void>(())
    private let lineLimit: Int
    private let byteLimit: Int
    private let noteOfDrops: @Sendable (Int) -> [UInt8]?
    private let writer: @Sendable ([UInt8]) -> Bool
    private let thread: LoopThread

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: Of the thread.
    ///   - lineLimit: How many lines wait at most.
    ///   - byteLimit: How many bytes they have together at most. Default: no bound.
    ///   - noteOfDrops: Makes a line which says that so many were dropped, written where they would have been. Default:
    ///     there is none.
    ///   - writer: Writes a line, as long as that takes, and returns whether it could; never called twice at a time.
    package init(
        name: String,
        lineLimit: Int,
        byteLimit: Int = .max,
        noteOfDrops: @escaping @Sendable (Int) -> [UInt8]? = { _ in nil },
        writer: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.lineLimit = max(1, lineLimit)
        self.byteLimit = max(1, byteLimit)
        self.noteOfDrops = noteOfDrops
        self.writer = writer
        thread = LoopThread(name: name)
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Has a line written, without waiting; from any thread.
    package func append(_ line: [UInt8]) {
        let mayStart = state.withLock { state -> Bool in
            guard state.waiting.count < lineLimit, line.count <= byteLimit - state.waitingBytes else {
                state.drop(1)
                return false
            }
            tellDrops(&state)
            state.take(line)
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

    /// Waits as ``flush()`` does, at most for so long.
    package func flush(within limit: Duration) async {
        let deadline = Task { [self] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            for flusher in state.withLock({ $0.abandoned() }) { flusher.resume() }
        }
        await flush()
        deadline.cancel()
    }

    /// Writes what waits on the caller's thread, so that what the caller writes next comes behind it.
    package func writeOut() {
        while writeNext() {}
    }

    /// Has writing wait while `body` runs, for tests.
    func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
        try pen.withLock { _ in try body() }
    }

    private func start() {
        do {
            try thread.start { [self] in
                repeat { writeOut() } while !isDone()
            }
        } catch {
            // Without a thread nothing can be written.
            let flushers = state.withLock { state in
                state.drop(state.waiting.count)
                state.done += state.waiting.count
                state.waiting = []
                state.waitingBytes = 0
                state.isWriting = false
                return state.released()
            }
            for flusher in flushers { flusher.resume() }
        }
    }

    /// Writes the line that has waited longest, and returns whether there was one.
    private func writeNext() -> Bool {
        pen.withLock { _ in
            guard let line = state.withLock({ $0.next() }) else { return false }
            let isWritten = writer(line)
            let flushers = state.withLock { state in
                if isWritten { state.counts.written += 1 } else { state.drop(1) }
                state.isWriterWell = isWritten
                state.done += 1
                return state.released()
            }
            for flusher in flushers { flusher.resume() }
            return true
        }
    }

    /// Ends the writing, unless there is another line.
    private func isDone() -> Bool {
        state.withLock { state in
            if state.waiting.isEmpty { tellDrops(&state) }
            state.isWriting = !state.waiting.isEmpty
            return !state.isWriting
        }
    }

    private func tellDrops(_ state: inout State) {
        guard state.untold > 0, state.isWriterWell else { return }
        let note = noteOfDrops(state.untold)
        state.untold = 0
        if let note { state.take(note) }
    }
}
