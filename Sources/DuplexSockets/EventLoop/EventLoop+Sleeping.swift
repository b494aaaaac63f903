// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension EventLoop {
    /// Waits, anywhere, until the loop's time has come to an instant.
    ///
    /// - Parameter deadline: the instant; one that has passed isn't waited for.
    /// - Throws: `CancellationError`.
    package func sleep(until deadline: Instant) async throws {
        let sleep = LoopBound(Sleep(until: deadline), on: thread)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                execute { core in sleep.value.begin(continuation, core) }
            }
        } onCancel: {
            execute { core in sleep.value.cancel(core) }
        }
    }
}

/// One wait for an instant; belongs to the loop's thread.
private final class Sleep: TimerTarget {
    private let deadline: Instant
    private var continuation: CheckedContinuation<Void, any Error>?
    private var timer: TimerID?
    private var isCancelled = false

    init(until deadline: Instant) {
        self.deadline = deadline
    }

    func begin(_ continuation: CheckedContinuation<Void, any Error>, _ core: LoopCore) {
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        if core.readClock() >= deadline { return continuation.resume() }
        self.continuation = continuation
        timer = core.schedule(self, at: deadline)
    }

    func cancel(_ core: LoopCore) {
        isCancelled = true
        if let timer { core.cancel(timer) }
        continuation.take()?.resume(throwing: CancellationError())
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        self.timer = nil
        continuation.take()?.resume()
    }
}
