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

    private func submit(_ number: Int, _ work: Work, to threads: BlockingThreads) -> BlockingThreads.Ticket {
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
        let tickets = (1...6).map { submit($0, work, to: threads) }
        await work.wait(for: 1)
        // The one that runs is left alone, those in the middle and at both ends of the queue go, one of them twice.
        for index in [0, 1, 3, 3, 5] { threads.withdraw(tickets[index]) }
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

    @Test("Clients take turns, however much one of them asks for")
    func turns() async throws {
        let work = try Work()
        let threads = BlockingThreads(name: "duplex-names", limit: 1)
        _ = submit(0, work, to: threads)
        await work.wait(for: 1)
        var tickets: [BlockingThreads.Ticket] = []
        for (client, numbers) in [("a", 10..<14), ("b", 20..<22), ("c", 30..<31), ("d", 40..<41)] {
            BlockingThreads.$share.withValue(BlockingThreads.Share(client)) {
                for number in numbers { tickets.append(submit(number, work, to: threads)) }
            }
        }
        _ = submit(1, work, to: threads)
        // One whose queue is empty by now has no turn, and comes last when it asks again.
        threads.withdraw(tickets[6])
        #expect(threads.waitingCount == 8)
        work.gate.signal()
        await work.wait(for: 17)
        #expect(work.ran.withLock { $0 } == [0, 10, 20, 40, 1, 11, 21, 12, 13])
        #expect(threads.waitingCount == 0)
        work.gate.close()
    }

    @Test("One client leaves a thread to others, and the app may have them all")
    func bound() async throws {
        let work = try Work()
        let threads = BlockingThreads(name: "duplex-names", limit: 3)
        BlockingThreads.$share.withValue(BlockingThreads.Share("a")) {
            for number in 10..<14 { _ = submit(number, work, to: threads) }
        }
        await work.wait(for: 2)
        #expect(threads.waitingCount == 2)
        BlockingThreads.$share.withValue(BlockingThreads.Share("b")) { _ = submit(20, work, to: threads) }
        await work.wait(for: 1)
        #expect(threads.waitingCount == 2)
        work.gate.signal()
        // The rest: two more begin, and all end.
        await work.wait(for: 7)
        let apps = try Work()
        for number in 0..<3 { _ = submit(number, apps, to: threads) }
        await apps.wait(for: 3)
        apps.gate.signal()
        await apps.wait(for: 3)
        for work in [work, apps] { work.gate.close() }
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
