// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct OutputPoolTests {
    @Test("A buffer that was given back is lent again")
    func again() {
        let pool = OutputPool()
        let buffer = pool.take()
        pool.give(buffer)
        #expect(pool.take() === buffer)
        #expect(pool.take() !== buffer)
    }

    @Test("No more than 64 buffers are kept, which is 1 MiB")
    func bounded() {
        let pool = OutputPool()
        let buffers = (0..<65).map { _ in pool.take() }
        for buffer in buffers { pool.give(buffer) }
        let again = (0..<65).map { _ in pool.take() }
        #expect(Set(again.map(ObjectIdentifier.init)).intersection(buffers.map(ObjectIdentifier.init)).count == 64)
    }
}
