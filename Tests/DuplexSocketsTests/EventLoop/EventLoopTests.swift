// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization
import Testing

@Suite struct EventLoopTests {
    /// Lives on a loop, as a connection does.
    private actor Resident {
        nonisolated let loop: EventLoop
        private(set) var count = 0

        init(loop: EventLoop) {
            self.loop = loop
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe loop.asUnownedSerialExecutor()
        }

        func increment() -> Bool {
            count += 1
            return loop.isCurrent
        }
    }

    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop()
        try await body(loop)
        await loop.stop()
    }

    @Test("Code that is isolated to an actor of a loop runs on the loop's thread")
    func isolation() async throws {
        try await withLoop { loop in
            let resident = Resident(loop: loop)
            #expect(!loop.isCurrent)
            #expect(await resident.increment())
        }
    }

    @Test("Jobs of many tasks all run, one at a time")
    func manyTasks() async throws {
        try await withLoop { loop in
            let resident = Resident(loop: loop)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask { for _ in 0..<200 { _ = await resident.increment() } }
                }
            }
            #expect(await resident.count == 10_000)
        }
    }

    @Test("A task with a preference for the loop runs on it and comes back to it")
    func taskExecutor() async throws {
        try await withLoop { loop in
            let other = try EventLoop()
            let elsewhere = Resident(loop: other)
            let task = Task(executorPreference: loop) { () async -> [Bool] in
                let before = loop.isCurrent
                let away = await elsewhere.increment()
                return [before, away, loop.isCurrent]
            }
            #expect(await task.value == [true, true, true])
            await other.stop()
        }
    }

    @Test("Work from other threads runs in the order in which it was handed in")
    func order() async throws {
        try await withLoop { loop in
            let seen = Mutex<[Int]>([])
            await withCheckedContinuation { continuation in
                for number in 0..<1_000 {
                    loop.execute { _ in
                        seen.withLock { $0.append(number) }
                        if number == 999 { continuation.resume() }
                    }
                }
            }
            #expect(seen.withLock { $0 } == Array(0..<1_000))
        }
    }

    @Test("Stopping runs what was handed in before, and what comes later still gets an answer")
    func stopping() async throws {
        let loop = try EventLoop()
        let resident = Resident(loop: loop)
        let ran = Atomic<Int>(0)
        for _ in 0..<100 { loop.execute { _ in ran.add(1, ordering: .relaxed) } }
        await loop.stop()
        #expect(ran.load(ordering: .relaxed) == 100)
        for _ in 0..<100 { #expect(await resident.increment()) }
        #expect(await resident.count == 100)
        await loop.stop()
    }

    @Test("Nothing can be watched on a loop that has stopped")
    func watchingAfterTheEnd() async throws {
        let loop = try EventLoop()
        await loop.stop()
        await #expect(throws: SocketError.self) {
            _ = try await Connector.connect(
                to: .address(try SocketAddress("127.0.0.1", port: 9)),
                on: loop,
                timeout: .seconds(5)
            ) { _ in 0 }
        }
    }

    @Test("A timer of the loop fires by itself")
    func timer() async throws {
        final class Target: TimerTarget, Sendable {
            let continuation: CheckedContinuation<Bool, Never>
            init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = continuation }
            func timerFired(_ timer: TimerID, now: Instant) { continuation.resume(returning: true) }
        }
        try await withLoop { loop in
            let kept = Mutex<Target?>(nil)
            let fired = await withCheckedContinuation { continuation in
                let target = Target(continuation)
                kept.withLock { $0 = target }
                loop.execute { core in _ = core.schedule(target, at: core.now.advanced(by: .milliseconds(20))) }
            }
            #expect(fired)
        }
    }
}
