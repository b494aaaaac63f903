// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Commands that wait for Redis")
struct RedisQueueTests {
    private static let start = Instant(nanoseconds: 0)

    private static func queue(_ commands: Int, _ bytes: ByteCount) -> RedisQueue {
        RedisQueue(.wait(commands: commands, bytes: bytes, time: .seconds(5)))
    }

    @Test("So many wait, in their order")
    func boundsNumber() {
        var queue = Self.queue(2, .unlimited)
        #expect(queue.add([RedisCommand("A")], id: 1, now: Self.start) { _ in } == nil)
        #expect(queue.add([RedisCommand("B")], id: 2, now: Self.start) { _ in } == nil)
        #expect(queue.add([RedisCommand("C")], id: 3, now: Self.start, { _ in })?.code == .unavailable)
        #expect(queue.next()?.id == 1)
        #expect(queue.add([RedisCommand("C")], id: 3, now: Self.start) { _ in } == nil)
        #expect([queue.next()?.id, queue.next()?.id, queue.next()?.id] == [2, 3, nil])
    }

    @Test("So many bytes wait, whichever way they leave")
    func boundsBytes() {
        let command = RedisCommand("PUBLISH", "a", "b")
        var queue = Self.queue(100, ByteCount(2 * command.encodedCount))
        for round in 0..<3 {
            #expect(queue.add([command], id: 1, now: Self.start) { _ in } == nil, "\(round)")
            #expect(queue.add([command], id: 2, now: Self.start) { _ in } == nil, "\(round)")
            #expect(queue.add([command], id: 3, now: Self.start) { _ in } != nil, "\(round)")
            let taken = [queue.take(1), queue.take(1)]
            #expect(taken.map { $0?.id } == [1, nil])
            #expect(queue.next(dueAt: Self.start) == nil)
            #expect(queue.next(dueAt: Self.start.advanced(by: .seconds(5))) != nil)
            #expect(queue.count == 0)
        }
    }

    @Test("Each waits for the same time")
    func boundsTime() {
        var queue = Self.queue(10, .unlimited)
        #expect(queue.nextDeadline == nil)
        _ = queue.add([RedisCommand("A")], id: 1, now: Self.start) { _ in }
        _ = queue.add([RedisCommand("B")], id: 2, now: Self.start.advanced(by: .seconds(1))) { _ in }
        #expect(queue.nextDeadline == Self.start.advanced(by: .seconds(5)))
        let due = Self.start.advanced(by: .seconds(5))
        #expect(queue.next(dueAt: due)?.id == 1)
        #expect(queue.next(dueAt: due) == nil)
        #expect(queue.nextDeadline == Self.start.advanced(by: .seconds(6)))
    }

    @Test("Where nothing is to wait, nothing does")
    func fails() {
        var queue = RedisQueue(.fail)
        #expect(queue.add([RedisCommand("A")], id: 1, now: Self.start, { _ in })?.code == .unavailable)
        #expect(queue.count == 0)
    }
}

@Suite("Waits for Redis")
struct RedisWaitTests {
    @Test("No two waits have the same identity")
    func namesWaits() {
        let names = (0..<100).map { _ in RedisWait.next() }
        #expect(Set(names).count == 100)
        #expect(!names.contains(0))
    }

    @Test("A batch is told once, in order, when all of it has come")
    func gathersBatch() {
        var told: [[Int64?]] = []
        let batch = RedisBatch(3) { results in told.append(results.map { try? $0.get().integer }) }
        batch.add(.success(.integer(1)))
        batch.add(.failure(RedisError(.busy, "")))
        #expect(told.isEmpty)
        batch.add(.success(.integer(3)))
        #expect(told == [[1, nil, 3]])
    }
}
