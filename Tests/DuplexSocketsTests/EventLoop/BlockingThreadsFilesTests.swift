// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexSockets

@Suite("Threads that wait for disks", .timeLimit(minutes: 1))
struct BlockingThreadsFilesTests {
    @Test("What a call returns or throws is what its caller gets")
    func results() async throws {
        #expect(try await BlockingThreads.files.runToEnd { 7 } == 7)
        await #expect(throws: SocketError.self) {
            try await BlockingThreads.files.runToEnd { () throws(SocketError) in
                throw SocketError(.system, message: "no")
            }
        }
    }

    /// How many run, and have run.
    private final class Counts: Sendable {
        private let state = Mutex((running: 0, most: 0, done: 0))

        var most: Int { state.withLock { $0.most } }
        var done: Int { state.withLock { $0.done } }

        func begin() {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
        }

        func end() {
            state.withLock { state in
                state.running -= 1
                state.done += 1
            }
        }
    }

    @Test("No more run at once than are allowed; the others wait, and all are run")
    func bound() async throws {
        let threads = BlockingThreads(name: "duplex-files", limit: 2)
        let counts = Counts()
        let gate = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await threads.runToEnd {
                        counts.begin()
                        gate.wait()
                        counts.end()
                    }
                }
            }
            for _ in 0..<20 { gate.signal() }
            try await group.waitForAll()
        }
        #expect(counts.done == 20 && counts.most <= 2)
    }
}
