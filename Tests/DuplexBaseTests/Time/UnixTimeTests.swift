// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite struct UnixTimeTests {
    @Test(
        "Dates of the calendar",
        arguments: [
            (0, "1970-01-01 00:00:00 UTC"), (951_827_696, "2000-02-29 12:34:56 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"), (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"), (253_402_300_799, "9999-12-31 23:59:59 UTC"),
        ]
    )
    func dates(seconds: Int64, text: String) {
        #expect(UnixTime(seconds: seconds).description == text)
    }

    @Test("The same as the Internet writes it")
    func internetText() {
        #expect(UnixTime(seconds: 951_827_696).internetText == "2000-02-29T12:34:56Z")
        #expect(UnixTime(seconds: -1).internetText == "1969-12-31T23:59:59Z")
    }

    @Test("Later by a duration, and by one that has no room in 64 bits no later than the last")
    func advancing() {
        #expect(UnixTime(seconds: 5).advanced(by: .seconds(3)) == UnixTime(seconds: 8))
        #expect(UnixTime(seconds: 5).advanced(by: .seconds(-3)) == UnixTime(seconds: 2))
        #expect(UnixTime(seconds: 5).advanced(by: .seconds(Int64.max)) == UnixTime(seconds: .max))
        #expect(UnixTime(seconds: -5).advanced(by: .seconds(Int64.min)) == UnixTime(seconds: .min))
    }

    @Test("Earlier is smaller")
    func order() {
        #expect(UnixTime(seconds: 1) < UnixTime(seconds: 2))
    }
}
