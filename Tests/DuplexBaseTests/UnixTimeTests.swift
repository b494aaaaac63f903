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

@Suite("Days in the calendar")
struct CivilDateTests {
    @Test(
        "A day counted from 1970 has its date",
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (47_540, 2100, 2, 28),
            (47_541, 2100, 3, 1), (-134_774, 1601, 1, 1), (2_932_896, 9999, 12, 31), (-719_468, 0, 3, 1),
        ] as [(Int64, Int64, Int64, Int64)]
    )
    func dates(days: Int64, year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(daysSince1970: days) == CivilDate(year: year, month: month, day: day))
        #expect(CivilDate(year: year, month: month, day: day).daysSince1970 == days)
    }

    @Test("A day and its date are each other's inverse, and each month has its days")
    func inverse() {
        var last = CivilDate(daysSince1970: -800_001)
        for days in Int64(-800_000)...Int64(900_000) {
            let date = CivilDate(daysSince1970: days)
            let isFirst = last.day == CivilDate.days(inMonth: last.month, of: last.year)
            guard date.daysSince1970 == days, date.day == (isFirst ? 1 : last.day + 1), (1...12).contains(date.month)
            else {
                Issue.record("\(days)")
                return
            }
            last = date
        }
    }
}
