// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("The dates of cookies")
struct CookieDateTests {
    @Test(
        "They are read in the forms that servers write",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("29 feb 2024 23:59:59", 1_709_251_199), ("1 January 69 1:2:3", 3_124_227_723),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("1 Jan 1601 0:0:0", -11_644_473_600),
        ]
    )
    func reading(text: String, seconds: Int64) {
        #expect(CookieDate.seconds(text) == seconds)
    }

    @Test(
        "What is no date is nil",
        arguments: [
            "", "soon", "31 Feb 2024 00:00:00", "29 Feb 2023 00:00:00", "1 Jan 1600 00:00:00", "1 Jan 2024 24:00:00",
            "1 Jan 2024 00:60:00", "1 Jan 2024", "Jan 2024 00:00:00", "32 Jan 2024 00:00:00", "1 Foo 2024 00:00:00",
            "1 Jan 20245 00:00:00", String(repeating: "1 ", count: 100),
        ]
    )
    func refusing(text: String) {
        #expect(CookieDate.seconds(text) == nil)
    }
}
