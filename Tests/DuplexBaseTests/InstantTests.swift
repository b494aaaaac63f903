// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Instants")
struct InstantTests {
    @Test("Advancing adds nanoseconds, and the way back is the duration")
    func advancing() {
        let start = Instant(nanoseconds: 5)
        let end = start.advanced(by: .milliseconds(3))
        #expect(end.nanoseconds == 3_000_005)
        #expect(start.duration(to: end) == .milliseconds(3))
        #expect(end.duration(to: start) == .milliseconds(-3))
        #expect(start < end)
        #expect(end.advanced(by: .milliseconds(-3)) == start)
    }

    @Test("What doesn't fit 64 bits ends at the first or last instant there is")
    func overflow() {
        let late = Instant(nanoseconds: .max - 1)
        #expect(late.advanced(by: .seconds(1)).nanoseconds == .max)
        #expect(late.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        let early = Instant(nanoseconds: .min + 1)
        #expect(early.advanced(by: .seconds(-1)).nanoseconds == .min)
        #expect(early.advanced(by: .seconds(Int64.min)).nanoseconds == .min)
    }

    @Test("The duration between the first and the last instant is as long as that")
    func longest() {
        let first = Instant(nanoseconds: .min)
        let last = Instant(nanoseconds: .max)
        #expect(first.duration(to: last) == .nanoseconds(Int64.max) + .nanoseconds(Int64.max) + .nanoseconds(1))
    }

    @Test(
        "Whole nanoseconds of a duration are cut, and bounded by 64 bits",
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.seconds(-1), -1_000_000_000),
            (.milliseconds(1_500), 1_500_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1),
            (Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999), -1),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 999_999_999_000_000_000), .max),
            (Duration(secondsComponent: -9_223_372_036, attosecondsComponent: -999_999_999_000_000_000), .min),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 854_775_807_000_000_000), .max),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 854_775_806_000_000_000), .max - 1),
        ] as [(Duration, Int64)]
    )
    func wholeNanoseconds(duration: Duration, nanoseconds: Int64) {
        #expect(duration.wholeNanoseconds == nanoseconds)
    }

    @Test("A duration that has no room in 64 bits of nanoseconds by its fraction alone is no trap", arguments: [1, -1])
    func fraction(sign: Int64) {
        let duration = Duration(
            secondsComponent: sign * 9_223_372_036,
            attosecondsComponent: sign * 999_999_999_000_000_000
        )
        #expect(Instant(nanoseconds: 0).advanced(by: duration).nanoseconds == (sign < 0 ? .min : .max))
    }
}
