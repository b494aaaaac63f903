// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct RequestRateTests {
    @Test("A token comes back in its part of the time")
    func interval() {
        #expect(RequestRate.perSecond(10).interval == 100_000_000)
        #expect(RequestRate.perMinute(6).interval == 10_000_000_000)
        #expect(RequestRate.perHour(1).interval == 3_600_000_000_000)
        #expect(RequestRate.perSecond(.max).interval == 1)
    }
}
