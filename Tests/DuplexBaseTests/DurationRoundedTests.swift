// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Durations for people")
struct DurationRoundedTests {
    @Test(
        "A duration is rounded to what matters",
        arguments: [
            (Duration.seconds(10), "10.0 seconds"), (.milliseconds(250), "250 ms"),
            (.milliseconds(1_500), "1.5 seconds"),
            (.microseconds(40), "40 µs"), (.zero, "0 µs"), (.seconds(10) - .nanoseconds(17_265_988), "10.0 seconds"),
            (.milliseconds(999) + .microseconds(999), "1.0 seconds"), (.nanoseconds(999_999), "1 ms"),
            (.seconds(3_600), "3600.0 seconds"), (.seconds(-2), "-2.0 seconds"), (.milliseconds(-5), "-5 ms"),
            (.nanoseconds(1_999_999_999), "2.0 seconds"),
            (.seconds(Int64.max), "9223372036854775807 seconds"), (.seconds(Int64.min), "-9223372036854775808 seconds"),
        ]
    )
    func rounding(duration: Duration, text: String) {
        #expect(duration.rounded == text)
    }
}
