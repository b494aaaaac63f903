// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What is due when")
struct DeadlineHeapTests {
    @Test("It is handed out in the order of the deadlines, and not before", arguments: 0..<20)
    func order(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = DeadlineHeap<Int>()
        var model: [Int] = []
        for now in 0..<200 {
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let deadline = now + Int.random(in: 0..<50, using: &random)
                heap.insert(deadline, at: Instant(nanoseconds: Int64(deadline)))
                model.append(deadline)
            }
            var due: [Int] = []
            while let element = heap.popFirst(dueAt: Instant(nanoseconds: Int64(now))) { due.append(element) }
            #expect(due == model.filter { $0 <= now }.sorted())
            model.removeAll { $0 <= now }
            #expect(heap.count == model.count)
            #expect(heap.first == model.min().map { Instant(nanoseconds: Int64($0)) })
        }
    }
}
