// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("A request that was recorded")
struct RecordedExchangeTests {
    @Test("The whole time is the sum of the parts that are known")
    func total() {
        var exchange = RecordedExchange(id: 1, began: 0, method: "GET", url: "http://example.com/")
        #expect(exchange.durations.total == 0)
        exchange.durations.head = 0.25
        exchange.durations.sending = 0.5
        #expect(exchange.durations.total == 0.75)
    }
}
