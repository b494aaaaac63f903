// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The lines of a descriptor, such as standard input, read by a thread of its own because reading may block for ever.
///
/// The thread reads when a line is asked for and not ahead, so that a fast writer is held back by a slow connection.
/// Lines may have any length. Asked by one task at a time.
final class InputLines: LineSource {
    typealias Line = Result<String?, any Error>

    private struct State {
        var waiter: CheckedContinuation<String?, any Error>?
        /// What was read for a wait that had been cancelled by then.
        var unclaimed: Line?
        /// Whether the thread is reading a line.
        var isReading = false
    }

    private let state = Mutex(State())
    private let demand = DispatchSemaphore(value: 0)

    /// Starts the thread, which reads from a duplicate of the descriptor: the caller may close its own.
    ///
    /// - Throws: ``Failure`` when the descriptor isn't open; ``SocketError`` when the system has no thread to give.
    init(descriptor: Int32) throws {
        let own = dup(descriptor)
        guard own >= 0 else { throw Failure(.failure, "The input can't be read (errno \(errno)).") }
        let demand = demand
        do {
            try LoopThread(name: "duplex-input").start { [weak self] in
                Self.read(own, when: demand) { self }
            }
        } catch {
            close(own)
            throw error
        }
    }

    deinit {
        demand.signal()
    }

    /// What the thread does: a line for each demand, until nobody can ask any more.
    private static func read(_ descriptor: Int32, when demand: DispatchSemaphore, for lines: () -> InputLines?) {
        var splitter = LineSplitter(descriptor: descriptor)
        demand.wait()
        // Looked at before each line, since the last demand is that of the deinitialiser.
        while lines() != nil {
            let line = Line { try splitter.next() }
            lines()?.answer(line)
            demand.wait()
        }
        close(descriptor)
    }

    func next() async throws -> String? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { ask($0) }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume(throwing: CancellationError())
        }
    }

    private func ask(_ continuation: CheckedContinuation<String?, any Error>) {
        let line = state.withLock { state -> Line? in
            if Task.isCancelled { return .failure(CancellationError()) }
            if let line = state.unclaimed.take() { return line }
            state.waiter = continuation
            if !state.isReading {
                state.isReading = true
                demand.signal()
            }
            return nil
        }
        if let line { continuation.resume(with: line) }
    }

    private func answer(_ line: Line) {
        let waiter = state.withLock { state in
            state.isReading = false
            if state.waiter == nil { state.unclaimed = line }
            return state.waiter.take()
        }
        waiter?.resume(with: line)
    }
}

/// Where the lines come from that are sent.
protocol LineSource: Sendable {
    /// The next line without its end; `nil` when there are no more.
    func next() async throws -> String?
}

/// Lines that are given beforehand.
actor GivenLines: LineSource {
    private var lines: ArraySlice<String>

    init(_ lines: [String]) {
        self.lines = lines[...]
    }

    func next() -> String? {
        lines.popFirst()
    }
}
