// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct OutputPoolTests {
    @Test("A buffer that was given back is lent again, and two lent at once are different ones")
    func lending() {
        let pool = OutputPool()
        let first = pool.take()
        let second = pool.take()
        #expect(first !== second)
        pool.give(first)
        #expect(pool.take() === first)
        #expect(pool.take() !== first)
    }

    @Test("A buffer comes back empty and works after it had grown")
    func grown() {
        let pool = OutputPool()
        let buffer = pool.take()
        buffer.append([UInt8](repeating: 1, count: 4 * OutputPool.blockSize).span.raw)
        buffer.removeAll()
        pool.give(buffer)
        let again = pool.take()
        #expect(again.count == 0)
        again.append([1, 2].span.raw)
        #expect(again.count == 2)
        var room = 0
        again.append(capacity: 1) { room = $0.freeCapacity }
        #expect(room == OutputPool.blockSize - 2)
    }

    @Test("No more than 64 buffers are kept")
    func bounded() {
        let pool = OutputPool()
        weak var last: OutputBuffer?
        weak var first: OutputBuffer?
        do {
            let buffers = (0...64).map { _ in pool.take() }
            first = buffers.first
            last = buffers.last
            for buffer in buffers { pool.give(buffer) }
        }
        #expect(first != nil)
        #expect(last == nil)
    }
}
