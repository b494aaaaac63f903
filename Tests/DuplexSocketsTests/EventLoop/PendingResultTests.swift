// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct PendingResultTests {
    private let answer = Result<Resolution, any Error>.success(Resolution([], timeToLive: .seconds(1)))

    @Test("An answer that came before is there at once")
    func early() async throws {
        let pending = PendingResult<Resolution>()
        pending.finish(answer)
        #expect(try await pending.value {}.timeToLive == .seconds(1))
    }

    @Test("An answer that comes later ends the wait, whichever thread it comes on")
    func late() async throws {
        for _ in 0..<100 {
            let pending = PendingResult<Resolution>()
            Task.detached { [answer] in pending.finish(answer) }
            #expect(try await pending.value {}.timeToLive == .seconds(1))
        }
    }

    @Test("Only the first end counts")
    func once() async throws {
        let pending = PendingResult<Resolution>()
        pending.finish(Result<Resolution, SocketError>.failure(SocketError(.timedOut, message: "first")))
        pending.finish(answer)
        let error = await socketError { _ = try await pending.value {} }
        #expect(error?.message == "first")
    }

    @Test("Cancelling calls the closure, which ends the wait")
    func cancelling() async {
        let task = Task {
            let pending = PendingResult<Resolution>()
            return try await pending.value {
                pending.finish(Result<Resolution, any Error>.failure(CancellationError()))
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite struct AwaitedEndTests {
    private struct TooLate: Error {}

    /// Something that ends once, by whoever says so first, or by its deadline.
    private actor Attempt: TimerTarget {
        nonisolated let loop: EventLoop
        private var ending = AwaitedEnd<Int>()

        init(loop: EventLoop) {
            self.loop = loop
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe loop.asUnownedSerialExecutor()
        }

        nonisolated func begin(deadline: Duration) {
            loop.execute { core in
                let core = LoopBound(core, on: self.loop.thread)
                self.assumeIsolated { attempt in
                    let instant = Instant.now().advanced(by: deadline)
                    attempt.ending.mustCome(by: instant, on: core.value, or: attempt)
                }
            }
        }

        nonisolated func end(_ value: Int) {
            loop.execute { core in
                let core = LoopBound(core, on: self.loop.thread)
                self.assumeIsolated { $0.ending.come(.success(value), on: core.value) }
            }
        }

        func outcome() async throws -> Int {
            try await waitOnLoop { waiter in
                ending.wait(waiter)
            } onCancel: {
            }
        }

        nonisolated func timerFired(_ timer: TimerID, now: Instant) {
            loop.execute { core in
                let core = LoopBound(core, on: self.loop.thread)
                self.assumeIsolated { attempt in
                    if attempt.ending.isDeadline(timer) { attempt.ending.come(.failure(TooLate()), on: core.value) }
                }
            }
        }
    }

    private func withAttempt(_ body: (Attempt) async throws -> Void) async throws {
        let loop = try EventLoop()
        try await body(Attempt(loop: loop))
        await loop.stop()
    }

    @Test(
        "The first end counts, whether it comes before the wait or during it",
        .timeLimit(minutes: 1),
        arguments: [true, false]
    )
    func firstEnd(isEarly: Bool) async throws {
        try await withAttempt { attempt in
            attempt.begin(deadline: .seconds(600))
            if isEarly {
                attempt.end(1)
                attempt.end(2)
                #expect(try await attempt.outcome() == 1)
            } else {
                async let outcome = attempt.outcome()
                attempt.end(1)
                attempt.end(2)
                let value = try await outcome
                #expect(value == 1)
            }
        }
    }

    @Test("What doesn't end by its deadline ends by it", .timeLimit(minutes: 1))
    func deadline() async throws {
        try await withAttempt { attempt in
            attempt.begin(deadline: .milliseconds(1))
            await #expect(throws: TooLate.self) { try await attempt.outcome() }
            // Too late, and ignored.
            attempt.end(1)
        }
    }
}
