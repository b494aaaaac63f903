// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct WaiterTests {
    /// Something that lives on a loop and can be waited for.
    private actor Bell {
        nonisolated let loop: EventLoop
        private var waiter: Waiter<Int>?
        private var rings = 0

        init(loop: EventLoop) {
            self.loop = loop
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe loop.asUnownedSerialExecutor()
        }

        func ring() {
            rings += 1
            waiter?.resume(returning: rings)
            waiter = nil
        }

        func wait() async throws -> Int {
            // What this queues on the loop runs on the way into the wait, if anything does.
            Task { self.ring() }
            return try await waitOnLoop { waiter in
                if rings > 0 {
                    waiter.resume(returning: rings)
                } else if Task.isCancelled {
                    waiter.resume(throwing: CancellationError())
                } else {
                    self.waiter = waiter
                }
            } onCancel: {
                loop.execute { _ in self.assumeIsolated { $0.cancel() } }
            }
        }

        private func cancel() {
            waiter?.resume(throwing: CancellationError())
            waiter = nil
        }
    }

    private func withBell(_ body: (Bell) async throws -> Void) async throws {
        let loop = try EventLoop()
        try await body(Bell(loop: loop))
        await loop.stop()
    }

    @Test("A wait ends although what it waits for happens on the way in")
    func wayIn() async throws {
        try await withBell { bell in
            for _ in 0..<200 {
                let rings = try await bell.wait()
                #expect(rings > 0)
            }
        }
    }

    @Test("A task that is cancelled at any moment ends its wait")
    func cancelledMeanwhile() async throws {
        try await withBell { bell in
            for _ in 0..<200 {
                let task = Task { try await bell.wait() }
                task.cancel()
                if case .failure(let error) = await task.result { #expect(error is CancellationError) }
            }
        }
    }
}
