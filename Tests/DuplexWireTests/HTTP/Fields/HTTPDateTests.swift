// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct HTTPDateTests {
    private static let now = UnixTime(seconds: 1_767_225_600)

    @Test(
        "A date is written as RFC 9110 section 5.6.7 has it, and read again",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_078_012_799, "Sat, 28 Feb 2004 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ]
    )
    func dates(seconds: Int64, text: String) {
        let time = UnixTime(seconds: seconds)
        #expect(HTTPDate.string(time) == text)
        #expect(HTTPDate.parse(text, now: Self.now) == time)
    }

    @Test(
        "The obsolete forms are read, too",
        arguments: [
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun Nov 06 08:49:37 1994",
        ]
    )
    func obsolete(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now)?.seconds == 784_111_777)
    }

    @Test("A year of two digits is never more than 50 years ahead")
    func century() {
        let year: (String) -> String? = { digits in
            HTTPDate.parse("Monday, 01-Jan-\(digits) 00:00:00 GMT", now: Self.now)?.description
        }
        #expect(year("76")?.prefix(4) == "2076")
        #expect(year("77")?.prefix(4) == "1977")
        #expect(year("26")?.prefix(4) == "2026")
    }

    @Test("A leap second is the first of the next minute")
    func leapSecond() {
        #expect(HTTPDate.parse("Sat, 31 Dec 2016 23:59:60 GMT", now: Self.now)?.seconds == 1_483_228_800)
    }

    @Test(
        "What is no date is none",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0200",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Son, 06 Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 94",
            "Sun, 06 Nov 1994 08:49:37 GMT and a good deal more than any date has",
        ]
    )
    func none(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test("A date may have more spaces than it needs, and no more than 40 bytes")
    func longest() {
        let spaces = { (count: Int) in String(repeating: " ", count: count) }
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37\(spaces(12))GMT", now: Self.now)?.seconds == 784_111_777)
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37\(spaces(13))GMT", now: Self.now) == nil)
    }
}

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
