// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import Testing

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
