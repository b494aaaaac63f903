// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Quotations of what a peer sent")
struct QuotationTests {
    @Test(
        "Controls, quotation marks and bytes beyond ASCII are escaped",
        arguments: [
            ("plain", #""plain""#), ("a\u{1B}[31m\r\n", #""a\x1B[31m\x0D\x0A""#), ("say \"\\\"", #""say \"\\\"""#),
            ("\u{E9}", #""\xC3\xA9""#), ("\u{7F}\u{0}", #""\x7F\x00""#), ("", #""""#),
        ]
    )
    func escaping(text: String, expected: String) {
        #expect(Quotation.of(text) == expected)
    }

    @Test("A text is cut behind 64 bytes", arguments: [(64, false), (65, true), (100_000, true)])
    func cutting(count: Int, isCut: Bool) {
        let text = String(repeating: "a", count: count)
        #expect(Quotation.of(text) == "\"" + text.prefix(64) + (isCut ? "…\"" : "\""))
        #expect(Quotation.of(Array(text.utf8).span) == Quotation.of(text))
    }

    @Test("A byte is named by its number")
    func byte() {
        #expect(Quotation.of(7 as UInt8) == "byte 0x07")
        #expect(Quotation.of(0xFF as UInt8) == "byte 0xFF")
    }
}
