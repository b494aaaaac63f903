// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct MonotonicInstantTests {
    @Test("The clock never goes back")
    func order() {
        var last = MonotonicInstant.now()
        #expect(last.nanoseconds > 0)
        for _ in 0..<1_000 {
            let next = MonotonicInstant.now()
            #expect(next >= last)
            last = next
        }
    }

    @Test("An instant too far away becomes the last one there is")
    func saturation() {
        let start = MonotonicInstant(nanoseconds: 5)
        #expect(start.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(start.advanced(by: .nanoseconds(Int64.max)).nanoseconds == .max)
    }

    @Test("The duration between two instants is what one was advanced by")
    func duration() {
        let start = MonotonicInstant(nanoseconds: 1_000)
        let end = start.advanced(by: .milliseconds(1_500))
        #expect(end.nanoseconds == 1_500_001_000)
        #expect(start.duration(to: end) == .milliseconds(1_500))
        #expect(end.duration(to: start) == .milliseconds(-1_500))
    }
}
