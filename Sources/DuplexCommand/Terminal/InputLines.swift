// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import Synchronization

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

    /// Starts the thread.
    ///
    /// - Throws: ``SocketError`` when the system has no thread to give.
    init(descriptor: Int32) throws {
        let demand = demand
        try LoopThread(name: "duplex-input").start { [weak self] in
            var splitter = LineSplitter(descriptor: descriptor)
            while true {
                demand.wait()
                let line = Line { try splitter.next() }
                guard let self else { return }
                answer(line)
            }
        }
    }

    deinit {
        demand.signal()
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
