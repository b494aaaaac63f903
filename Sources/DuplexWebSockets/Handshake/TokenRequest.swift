// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// A token that is asked for, with a deadline that holds even where whoever is asked doesn't heed it.
actor TokenRequest {
    private nonisolated let loop: EventLoop
    private var waiter: Waiter<String>?
    private var result: Result<String, any Error>?
    private var timer: TimerID?
    private var task: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Asks for a token.
    ///
    /// - Parameters:
    ///   - deadline: when it is given up.
    ///   - token: gives it; runs wherever it likes.
    /// - Returns: the token.
    /// - Throws: what `token` threw; ``WebSocketError`` when the time is over; `CancellationError`.
    func run(
        until deadline: Instant,
        _ token: @escaping @Sendable () async throws -> String
    ) async throws -> String {
        task = Task.detached {
            let result: Result<String, any Error>
            do {
                result = .success(try await token())
            } catch {
                result = .failure(error)
            }
            await self.end(result)
        }
        loop.execute { [self] core in
            let timer = core.schedule(self, at: deadline)
            assumeIsolated { $0.armed(timer) }
        }
        return try await waitOnLoop { waiter in
            if let result { waiter.resume(with: result) } else { self.waiter = waiter }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.end(.failure(CancellationError())) } }
        }
    }

    private func armed(_ timer: TimerID) {
        if result == nil { self.timer = timer } else { disarm(timer) }
    }

    private func disarm(_ timer: TimerID) {
        loop.execute { core in core.cancel(timer) }
    }

    private func end(_ outcome: Result<String, any Error>) {
        guard result == nil else { return }
        result = outcome
        task?.cancel()
        task = nil
        if let timer { disarm(timer) }
        timer = nil
        if let waiter {
            self.waiter = nil
            waiter.resume(with: outcome)
        }
    }
}

extension TokenRequest: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop) { request, _ in
            request.timer = nil
            request.end(.failure(WebSocketError(.timedOut, message: "The bearer token didn't come in time.")))
        }
    }
}
