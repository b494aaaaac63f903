// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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

    @Test("A day and its date are each other's inverse")
    func inverse() throws {
        for day in stride(from: Int64(-200_000), through: 900_000, by: 37) {
            let parts = UnixTime(seconds: day * 86_400).description.split(separator: " ")[0].split(separator: "-")
            let numbers = try parts.map { try #require(Int64($0)) }
            #expect(UnixTime.day(year: numbers[0], month: numbers[1], day: numbers[2]) == day)
        }
    }

    @Test("Earlier is smaller")
    func order() {
        #expect(UnixTime(seconds: 1) < UnixTime(seconds: 2))
    }
}
