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

    @Test("An instant too far away becomes the last one there is, or the first")
    func saturation() {
        let start = MonotonicInstant(nanoseconds: 5)
        #expect(start.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(start.advanced(by: .nanoseconds(Int64.max)).nanoseconds == .max)
        let early = MonotonicInstant(nanoseconds: .min + 1)
        #expect(early.advanced(by: .seconds(Int64.min)).nanoseconds == .min)
        #expect(early.advanced(by: .seconds(-1)).nanoseconds == .min)
        #expect(early.advanced(by: .nanoseconds(-1)).nanoseconds == .min)
    }

    @Test("A duration that has no room in 64 bits of nanoseconds by its fraction alone is no trap", arguments: [1, -1])
    func fraction(sign: Int64) {
        let duration = Duration(
            secondsComponent: sign * 9_223_372_036,
            attosecondsComponent: sign * 999_999_999_000_000_000
        )
        #expect(MonotonicInstant(nanoseconds: 0).advanced(by: duration).nanoseconds == (sign < 0 ? .min : .max))
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
