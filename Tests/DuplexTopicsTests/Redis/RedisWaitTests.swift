// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

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
