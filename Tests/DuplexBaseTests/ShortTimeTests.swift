// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexBase

@Suite("Times in four bytes")
struct ShortTimeTests {
    @Test(
        "They are kept to the microsecond, later to the millisecond, and stop at the longest there is",
        arguments: [
            (.zero, .zero), (.seconds(-1), .zero), (.microseconds(1_234), .microseconds(1_234)),
            (.microseconds(2_147_483_647), .microseconds(2_147_483_647)),
            (.microseconds(2_147_485_647), .milliseconds(2_147_485)),
            (.seconds(86_400), .seconds(86_400)), (.seconds(10_000_000), .milliseconds(2_147_483_647)),
        ] as [(Duration, Duration)]
    )
    func kept(duration: Duration, expected: Duration) {
        #expect(ShortTime(duration).duration == expected)
    }
}
