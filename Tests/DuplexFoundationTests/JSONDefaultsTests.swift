// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Testing

@testable import DuplexFoundation

@Suite struct JSONDefaultsTests {
    @Test("A date is written in UTC and whole seconds, by every encoder that an app doesn't give")
    func writing() throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000.75)
        let json = #"["2001-09-09T01:46:40Z"]"#
        #expect(String(decoding: try JSONDefaults.makeEncoder().encode([date]), as: UTF8.self) == json)
        #expect(try JSONCodec<[Date], [Date]>().encode([date]) == .text(json))
    }

    @Test(
        "A date is read with its offset from UTC, and with or without a fraction of a second",
        arguments: [
            ("2001-09-09T01:46:40Z", 0.0), ("2001-09-09T01:46:40.5Z", 0.5), ("2001-09-09T03:46:40+02:00", 0),
            ("2001-09-08T20:16:40.250-05:30", 0.25),
        ]
    )
    func reading(text: String, fraction: Double) throws {
        let dates = try JSONDefaults.makeDecoder().decode([Date].self, from: Data(#"["\#(text)"]"#.utf8))
        #expect(dates.map(\.timeIntervalSince1970) == [1_000_000_000 + fraction])
        #expect(try JSONCodec<[Date], [Date]>().decode(.text(#"["\#(text)"]"#)) == dates)
    }

    @Test(
        "Other texts are no dates",
        arguments: [
            #""""#, #""yesterday""#, #""2001-09-09""#, #""2001-09-09T01:46:40Zebra""#, #""2001-13-45T01:46:40Z""#, "0",
            "null",
        ]
    )
    func wrong(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDefaults.makeDecoder().decode([Date].self, from: Data("[\(json)]".utf8))
        }
    }

    @Test("A day is ten characters")
    func days() {
        #expect(ISO8601Text.day("2001-09-09")?.timeIntervalSince1970 == 999_993_600)
        #expect(ISO8601Text.day("2001-09-09T01:46:40Z") == nil && ISO8601Text.day("2001-9-9") == nil)
    }
}
