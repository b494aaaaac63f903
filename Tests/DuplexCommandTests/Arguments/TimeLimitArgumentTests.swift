// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

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
