// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct InstantNowTests {
    @Test("The clock never goes back")
    func order() {
        var last = Instant.now()
        #expect(last.nanoseconds > 0)
        for _ in 0..<1_000 {
            let next = Instant.now()
            #expect(next >= last)
            last = next
        }
    }

    @Test("The coarse clock is the same one, and never ahead of it")
    func coarse() {
        var last = Instant.coarse()
        for _ in 0..<1_000 {
            let coarse = Instant.coarse()
            #expect(coarse >= last && coarse <= Instant.now())
            last = coarse
        }
    }
}
