// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexBase
import Testing

@testable import DuplexCommand

@Suite("A time on the command line")
struct TimeArgumentTests {
    @Test(
        "A number and a unit make a time",
        arguments: [
            ("10s", Duration.seconds(10)), ("10", .seconds(10)), ("1.5", .milliseconds(1_500)), ("0s", .zero),
            ("250ms", .milliseconds(250)), ("2m", .seconds(120)), ("1h", .seconds(3_600)), ("0.5m", .seconds(30)),
        ]
    )
    func accepted(text: String, duration: Duration) {
        #expect(TimeArgument(argument: text)?.duration == duration)
    }

    @Test("A microsecond is told by two spellings, to the nanosecond")
    func microseconds() {
        for text in ["100us", "100µs"] {
            #expect(TimeArgument(argument: text)?.duration == .nanoseconds(100_000))
        }
    }

    @Test(
        "Anything else is no time",
        arguments: [
            "", "s", ".", "1.", ".5", "1..5", "1.2.3", "-1s", "+1", "1e3", "1 s", "1S", "1d", "nan", "inf",
            "999999999h",
        ]
    )
    func refused(text: String) {
        #expect(TimeArgument(argument: text) == nil)
    }

    @Test("No time at all is refused where there has to be one, with a sentence that names the option")
    func zero() throws {
        try TimeArgument.seconds(1).check(as: "--timeout")
        let error = #expect(throws: ValidationError.self) { try TimeArgument.seconds(0).check(as: "--timeout") }
        #expect(error?.message == "--timeout is 0 µs, and has to be longer than zero.")
    }

    @Test("A default is shown as it would be typed")
    func defaults() {
        let time = TimeArgument.seconds(10)
        #expect(time.defaultValueDescription == "10s")
        #expect(TimeArgument(argument: "10s")?.duration == time.duration)
    }
}

@Suite("A time on the command line that may be without a limit")
struct TimeLimitArgumentTests {
    @Test("It is a time as elsewhere, or unlimited")
    func reading() throws {
        #expect(TimeLimitArgument(argument: "250ms")?.duration == .milliseconds(250))
        #expect(TimeLimitArgument(argument: "0")?.duration == .zero)
        let none = try #require(TimeLimitArgument(argument: "unlimited"))
        #expect(none.duration == nil)
        for text in ["", "never", "Unlimited", "-1", "unlimited "] { #expect(TimeLimitArgument(argument: text) == nil) }
    }
}
