// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct BlockingThreadsTests {
    /// Jobs that run until they are let go, and what is known of them.
    private final class Work: Sendable {
        let ran = Mutex<[Int]>([])
        let mostAtOnce = Mutex((now: 0, most: 0))
        let started: AsyncStream<Int>
        let start: AsyncStream<Int>.Continuation
        let gate: Wakeup

        init() throws {
            (started, start) = AsyncStream.makeStream()
            gate = try Wakeup()
        }

        func block(_ number: Int) {
            mostAtOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            start.yield(number)
            _ = Descriptors.isReady(gate.descriptor, milliseconds: 600_000)
            ran.withLock { $0.append(number) }
            mostAtOnce.withLock { $0.now -= 1 }
            start.yield(-number)
        }

        /// Waits until that many have started, or ended.
        func wait(for count: Int) async {
            var count = count
            for await _ in started {
                count -= 1
                if count == 0 { return }
            }
        }
    }

    private func submit(_ number: Int, _ work: Work, to threads: BlockingThreads) -> UInt64 {
        threads.submit {
            work.block(number)
        } onFailure: { error in
            Issue.record(error)
        }
    }

    @Test("No more run at once than allowed, the others follow in their order")
    func bounded() async throws {
        let work = try Work()
        let threads = BlockingThreads(name: "duplex-names", limit: 2)
        for number in 1...5 { _ = submit(number, work, to: threads) }
        await work.wait(for: 2)
        #expect(threads.waitingCount == 3)
        work.gate.signal()
        await work.wait(for: 8)
        #expect(work.mostAtOnce.withLock { $0.most } == 2)
        #expect(work.ran.withLock { Set($0) } == Set(1...5))
        work.gate.close()
    }

    @Test("What still waits can be taken out of the queue, and never runs")
    func withdrawing() async throws {
        let work = try Work()
        let threads = BlockingThreads(name: "duplex-names", limit: 1)
        let ids = (1...6).map { submit($0, work, to: threads) }
        await work.wait(for: 1)
        // The one that runs is left alone, those in the middle and at both ends of the queue go, one of them twice.
        for index in [0, 1, 3, 3, 5] { threads.withdraw(ids[index]) }
        threads.withdraw(4_711)
        #expect(threads.waitingCount == 2)
        work.gate.signal()
        await work.wait(for: 5)
        #expect(work.ran.withLock { $0 } == [1, 3, 5])
        work.gate.close()
    }

    @Test("What is run gives its value or its error, and cancelling doesn't wait for it")
    func running() async throws {
        let work = try Work()
        let threads = BlockingThreads(name: "duplex-names", limit: 1)
        #expect(try await threads.run { 1 } == 1)
        await #expect(throws: SocketError.self) {
            try await threads.run { throw SocketError(.system, message: "none") }
        }
        let running = Task { try await threads.run { work.block(1) } }
        await work.wait(for: 1)
        let waiting = Task { try await threads.run { work.block(2) } }
        waiting.cancel()
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        work.gate.signal()
        await work.wait(for: 1)
        #expect(work.ran.withLock { $0 } == [1])
        work.gate.close()
    }

    @Test("Threads that had ended are started again")
    func again() async throws {
        let threads = BlockingThreads(name: "duplex-names", limit: 1)
        for _ in 0..<20 {
            await withCheckedContinuation { continuation in
                _ = threads.submit {
                    continuation.resume()
                } onFailure: { error in
                    Issue.record(error)
                    continuation.resume()
                }
            }
        }
        #expect(threads.waitingCount == 0)
    }
}
