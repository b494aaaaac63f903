// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct EntropyPoolTests {
    @Test("Numbers go on differing when the pool is filled again")
    func refill() {
        let pool = EntropyPool()
        var seen: Set<UInt32> = []
        for _ in 0..<600 { seen.insert(pool.next()) }
        // Two equal ones among 600 come up once in 24,000 runs; three such pairs never.
        #expect(seen.count > 597)
    }

    @Test("As many bytes come as were asked for", arguments: [0, 1, 3, 4, 5, 16, 1_023, 1_024, 1_025])
    func lengths(count: Int) {
        #expect(EntropyPool().bytes(count).count == count)
    }
}
