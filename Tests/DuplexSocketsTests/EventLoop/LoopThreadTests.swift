// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct LoopThreadTests {
    @Test("A thread knows itself, and nobody else is taken for it")
    func current() async throws {
        let thread = LoopThread(name: "a name that is longer than the system takes")
        #expect(!thread.isCurrent)
        let isCurrent = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Bool, any Error>) in
            do {
                try thread.start { continuation.resume(returning: thread.isCurrent) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(isCurrent)
        #expect(!thread.isCurrent)
    }
}
