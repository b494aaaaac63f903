// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@testable import DuplexCommand

@Suite("Numbers for people")
struct NumbersTests {
    @Test(
        "Thousands are separated",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000"), (-999, "-999"),
        ]
    )
    func grouped(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test(
        "Digits behind the point are rounded and padded",
        arguments: [
            (0, 0, "0"), (0.5, 3, "0.500"), (1.0006, 3, "1.001"), (0.0004, 3, "0.000"), (1_234.5, 1, "1,234.5"),
            (9.999, 2, "10.00"), (1e30, 2, "-"), (.nan, 1, "-"), (.infinity, 0, "-"), (-1, 1, "-"),
        ] as [(Double, Int, String)]
    )
    func fixed(number: Double, digits: Int, text: String) {
        #expect(number.fixed(digits) == text)
    }

    @Test("Milliseconds have three digits behind the point")
    func milliseconds() {
        #expect(Duration.microseconds(41).inMilliseconds == "0.041")
        #expect(Duration.seconds(1).inMilliseconds == "1,000.000")
    }
}
