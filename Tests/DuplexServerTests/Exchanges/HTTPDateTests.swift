// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct HTTPDateTests {
    @Test(
        "A date is written as RFC 9110 section 5.6.7 has it",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_078_012_799, "Sat, 28 Feb 2004 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-62_135_596_800, "Mon, 01 Jan 1 00:00:00 GMT"),
        ]
    )
    func dates(seconds: Int, text: String) {
        #expect(HTTPDate.string(secondsSince1970: seconds) == text)
    }

    @Test("The date now has the fixed length, and a year of this century")
    func now() {
        let date = HTTPDate.now()
        #expect(date.utf8.count == 29)
        #expect(date.hasSuffix(" GMT"))
        #expect(date.split(separator: " ")[3].hasPrefix("20"))
    }
}
