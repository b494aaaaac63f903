// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import Synchronization

/// Hands lines to a writer on a thread of its own, so that who has a line never waits for a disk or a reader.
///
/// The thread is there while there are lines, and takes all that wait at once. Behind that it may pause, so that under load it
/// is woken a few times in a second and not for each line. A bounded number of lines and of their bytes wait; what comes
/// beyond that, and what the writer doesn't take, is dropped and counted.
package final class LineQueue: Sendable {
    /// How many lines were written and how many were not.
    package struct Counts: Sendable, Hashable {
        package var written = 0
        package var dropped = 0
    }

    private enum Phase {
        /// There is no thread.
        case idle
        case writing
        /// The thread waits for more lines, or for somebody to be in a hurry.
        case pausing
    }

    /// Somebody who waits until so many lines are done with.
    private struct Flusher {
        var number: Int
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var phase = Phase.idle
        var waiting = LineBatch()
        /// Memory for the lines that come next.
        var spare = LineBatch()
        /// The bytes of those that wait, and of those that are being written.
        var heldBytes = 0
        var counts = Counts()
        /// How many lines were dropped since that was last said among the lines.
        var untold = 0
        /// Whether the last line could be written: else nobody would read about the others either.
        var isWriterWell = true
        /// How many lines were taken, and how many of them are done with.
        var taken = 0
        var done = 0
        var flushers: [Flusher] = []
        var lastFlusher = 0

        mutating func take(_ line: [UInt8]) {
            waiting.append(line)
            heldBytes += line.count
            taken += 1
        }

        /// Takes out what waits.
        mutating func next() -> LineBatch? {
            if waiting.isEmpty { return nil }
            let batch = waiting
            waiting = spare
            spare = LineBatch()
            return batch
        }

        /// So many lines with so many bytes have been written, or dropped.
        mutating func finish(_ count: Int, bytes: Int, _ outcome: LineBatch.Outcome) {
            counts.written += outcome.written
            drop(count - outcome.written)
            isWriterWell = outcome.isWell
            done += count
            heldBytes -= bytes
        }

        /// The thread ends, and its memory goes with it.
        mutating func end() {
            phase = .idle
            waiting = LineBatch()
            spare = LineBatch()
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

        /// Takes out the one of that number, if it still waits.
        mutating func abandoned(_ number: Int) -> CheckedContinuation<Void, Never>? {
            guard let index = flushers.firstIndex(where: { $0.number == number }) else { return nil }
            return flushers.remove(at: index).continuation
        }
    }

    private let state = Mutex(State())
    /// Held while lines are written, so that they stay whole and in order whoever writes them.
    private let pen = Mutex<Void>(())
    /// Ends the pause of the thread.
    private let bell = DispatchSemaphore(value: 0)
    private let lineLimit: Int
    private let byteLimit: Int
    private let pause: Duration
    private let noteOfDrops: @Sendable (Int) -> [UInt8]?
    private let writer: @Sendable (LineBatch) -> LineBatch.Outcome
    private let thread: LoopThread

    /// So many bytes are written without a pause: more of them in one call would save nothing.
    private static let fullBatch = 64 * 1_024

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: Of the thread.
    ///   - lineLimit: How many lines wait at most, those that are being written among them.
    ///   - byteLimit: How many bytes they have together at most. Default: no bound.
    ///   - pause: How long lines may wait behind others that were written, unless they are many or somebody waits for
    ///     them. Default: not at all.
    ///   - noteOfDrops: Makes a line which says that so many were dropped, written where they would have been. Default:
    ///     there is none.
    ///   - writer: Writes lines, as long as that takes, and returns their results; never called twice at a time.
    package init(
        name: String,
        lineLimit: Int,
        byteLimit: Int = .max,
        pause: Duration = .zero,
        noteOfDrops: @escaping @Sendable (Int) -> [UInt8]? = { _ in nil },
        writer: @escaping @Sendable (LineBatch) -> LineBatch.Outcome
    ) {
        self.lineLimit = max(1, lineLimit)
        self.byteLimit = max(1, byteLimit)
        self.pause = pause
        self.noteOfDrops = noteOfDrops
        self.writer = writer
        thread = LoopThread(name: name)
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Has a line written, without waiting; from any thread.
    package func append(_ line: [UInt8]) {
        let phase = state.withLock { state -> Phase in
            guard state.taken - state.done < lineLimit, line.count <= byteLimit - state.heldBytes else {
                state.drop(1)
                return .writing
            }
            tellDrops(&state)
            state.take(line)
            let phase = state.phase
            if phase == .idle || phase == .pausing && isHurried(state) {
                state.phase = .writing
                return phase
            }
            return .writing
        }
        act(on: phase)
    }

    /// Has a thread write that doesn't yet.
    private func act(on phase: Phase) {
        switch phase {
        case .idle: start()
        case .pausing: bell.signal()
        case .writing: break
        }
    }

    /// Whether lines shouldn't wait for others.
    private func isHurried(_ state: borrowing State) -> Bool {
        state.waiting.bytes.count >= Self.fullBatch || state.waiting.count >= lineLimit / 2 || !state.flushers.isEmpty
    }

    /// Waits until everything that was appended before is written, or dropped and counted in the note of drops.
    package func flush() async {
        await withCheckedContinuation { _ = flush($0) }
    }

    /// Waits as ``flush()`` does, at most for so long.
    package func flush(within limit: Duration) async {
        var deadline: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            guard let number = flush(continuation) else { return }
            deadline = Task { [self] in
                // Cancelled below when all is written before.
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                state.withLock { $0.abandoned(number) }?.resume()
            }
        }
        deadline?.cancel()
    }

    /// Resumes a continuation once everything that was appended before is done with.
    ///
    /// - Returns: its number, where it waits.
    private func flush(_ continuation: CheckedContinuation<Void, Never>) -> Int? {
        let (number, phase) = state.withLock { state -> (Int?, Phase) in
            tellDrops(&state)
            if state.done == state.taken { return (nil, .writing) }
            state.lastFlusher += 1
            let flusher = Flusher(number: state.lastFlusher, count: state.taken, continuation: continuation)
            state.flushers.append(flusher)
            defer { state.phase = .writing }
            return (flusher.number, state.phase)
        }
        if number == nil { continuation.resume() }
        act(on: phase)
        return number
    }

    /// How many wait in a flush, for tests.
    var flusherCount: Int { state.withLock { $0.flushers.count } }

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
                repeat { _ = writeNext() } while goesOn()
            }
        } catch {
            // Without a thread nothing can be written.
            let flushers = state.withLock { state in
                let outcome = LineBatch.Outcome(isWell: state.isWriterWell)
                state.finish(state.waiting.count, bytes: state.waiting.bytes.count, outcome)
                state.end()
                return state.released()
            }
            for flusher in flushers { flusher.resume() }
        }
    }

    /// Writes the lines that wait, and returns whether there were any.
    private func writeNext() -> Bool {
        pen.withLock { _ in
            guard var batch = state.withLock({ $0.next() }) else { return false }
            let outcome = writer(batch)
            let (count, bytes) = (batch.count, batch.bytes.count)
            batch.removeAll()
            let flushers = state.withLock { state in
                state.finish(count, bytes: bytes, outcome)
                state.spare = batch
                return state.released()
            }
            for flusher in flushers { flusher.resume() }
            return true
        }
    }

    /// Pauses behind what was written.
    ///
    /// - Returns: whether there are lines again; the thread ends where there are none.
    private func goesOn() -> Bool {
        let pauses = state.withLock { state in
            if state.waiting.isEmpty { tellDrops(&state) }
            let pauses = pause > .zero && !isHurried(state)
            if pauses { state.phase = .pausing }
            return pauses
        }
        if pauses { _ = bell.wait(timeout: .now() + .nanoseconds(Int(pause.wholeNanoseconds))) }
        return state.withLock { state in
            state.phase = .writing
            if state.waiting.isEmpty { tellDrops(&state) }
            if state.waiting.isEmpty { state.end() }
            return state.phase == .writing
        }
    }

    private func tellDrops(_ state: inout State) {
        guard state.untold > 0, state.isWriterWell else { return }
        let note = noteOfDrops(state.untold)
        state.untold = 0
        if let note { state.take(note) }
    }
}

/// Lines one behind the other in one piece of memory, so that one call writes many of them.
package struct LineBatch: Sendable {
    /// The results of the lines of a batch.
    package struct Outcome: Sendable, Hashable {
        /// How many were written.
        package var written = 0
        /// Whether the last one was.
        package var isWell = true

        package init(written: Int = 0, isWell: Bool = true) {
            self.written = written
            self.isWell = isWell
        }
    }

    package private(set) var bytes: [UInt8] = []
    /// Where each line ends.
    private var ends: [Int] = []

    package init() {}

    package var count: Int { ends.count }
    package var isEmpty: Bool { ends.isEmpty }

    /// Where a line stands in ``bytes``.
    package func range(of line: Int) -> Range<Int> { start(of: line)..<ends[line] }

    package func start(of line: Int) -> Int { line == 0 ? 0 : ends[line - 1] }

    /// How many lines from `first` on end at that place or before.
    package func count(from first: Int, endingBy place: Int) -> Int {
        var line = first
        while line < ends.count, ends[line] <= place { line += 1 }
        return line - first
    }

    package mutating func append(_ line: [UInt8]) {
        bytes.append(line.span.raw)
        ends.append(bytes.count)
    }

    /// Takes the lines out, and keeps the memory for others.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Writes the lines one by one.
    ///
    /// - Parameter writer: Writes a line, and returns whether it could.
    /// - Returns: Their results.
    package func write(each writer: ([UInt8]) -> Bool) -> Outcome {
        var outcome = Outcome()
        for line in 0..<count {
            outcome.isWell = writer(Array(bytes[range(of: line)]))
            if outcome.isWell { outcome.written += 1 }
        }
        return outcome
    }
}
