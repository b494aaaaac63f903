// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Synchronization
import Testing

@Suite struct ChangeBroadcastTests {
    private func numbers(_ changes: AsyncStream<Int>) async -> [Int] {
        var numbers: [Int] = []
        for await change in changes { numbers.append(change) }
        return numbers
    }

    @Test("Every observer gets each change once and in order, behind the last one there was")
    func order() async {
        let broadcast = ChangeBroadcast<Int>()
        let first = broadcast.observe()
        for number in 1...3 { broadcast.tell(number) }
        let second = broadcast.observe()
        for number in 4...5 { broadcast.tell(number) }
        broadcast.finish()
        let third = broadcast.observe()
        #expect(await numbers(first) == [1, 2, 3, 4, 5])
        #expect(await numbers(second) == [3, 4, 5])
        #expect(await numbers(third) == [5])
        #expect(broadcast.count == 0)
    }

    @Test("One that is too far behind loses the oldest, and sees it by the numbers")
    func bound() async {
        let broadcast = ChangeBroadcast<Int>()
        let observer = broadcast.observe()
        for number in 1...2_000 { broadcast.tell(number) }
        broadcast.finish()
        #expect(await numbers(observer) == Array((2_001 - ChangeBroadcast<Int>.limit)...2_000))
    }

    /// Looks at what is observed whenever a job is handed to it, as it is when an observer is told.
    private final class LookingExecutor: TaskExecutor {
        let broadcast: ChangeBroadcast<Int>
        let seen = Mutex<[Int]>([])

        init(_ broadcast: ChangeBroadcast<Int>) { self.broadcast = broadcast }

        func enqueue(_ job: consuming ExecutorJob) {
            if let last = broadcast.last { seen.withLock { $0.append(last) } }
            let job = UnownedJob(job)
            DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test("No lock is held while observers are told", .timeLimit(minutes: 1))
    func tellingWithoutLock() async {
        let broadcast = ChangeBroadcast<Int>()
        let executor = LookingExecutor(broadcast)
        let (heard, hear) = AsyncStream<Int>.makeStream()
        let observer = broadcast.observe()
        let task = Task(executorPreference: executor) {
            for await change in observer { hear.yield(change) }
            hear.finish()
        }
        var numbers: [Int] = []
        broadcast.tell(1)
        for await number in heard {
            numbers.append(number)
            if number == 10 { broadcast.finish() } else { broadcast.tell(number + 1) }
        }
        await task.value
        #expect(numbers == Array(1...10) && broadcast.count == 0)
        #expect(executor.seen.withLock { !$0.isEmpty })
    }

    @Test("An observer that is cancelled while it is told holds up nobody", .timeLimit(minutes: 1))
    func cancelledWhileTold() async {
        let broadcast = ChangeBroadcast<Int>()
        for number in 0..<2_000 {
            let observer = broadcast.observe()
            let task = Task { for await _ in observer {} }
            async let told: Void = broadcast.tell(number)
            task.cancel()
            await told
            await task.value
        }
        #expect(await comesTrue { broadcast.count == 0 })
    }

    @Test("Of many who tell at once each is heard once and in its order")
    func manyTellers() async {
        let broadcast = ChangeBroadcast<Int>()
        let first = broadcast.observe()
        await withTaskGroup(of: Void.self) { group in
            for teller in 0..<4 { group.addTask { for number in 0..<200 { broadcast.tell(teller * 200 + number) } } }
        }
        let second = broadcast.observe()
        broadcast.finish()
        let changes = await numbers(first)
        #expect(changes.sorted() == Array(0..<800))
        for teller in 0..<4 {
            let own = changes.filter { $0 / 200 == teller }
            #expect(own == own.sorted())
        }
        #expect(await numbers(second) == [changes.last])
    }

    @Test("One that observes no more is forgotten")
    func leaving() {
        let broadcast = ChangeBroadcast<Int>()
        var observer: AsyncStream<Int>? = broadcast.observe()
        #expect(broadcast.count == 1 && observer != nil)
        observer = nil
        #expect(broadcast.count == 0)
    }
}
