// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Texts beyond ASCII in parameters")
struct ExtendedTextTests {
    @Test(
        "A text is percent-encoded in UTF-8, and comes back",
        arguments: [
            ("a-b_c", "UTF-8''a-b_c"), ("J\u{E4}s \u{F8}", "UTF-8''J%C3%A4s%20%C3%B8"), ("", "UTF-8''"),
            ("a'b*%\"", "UTF-8''a%27b%2A%25%22"),
        ]
    )
    func both(text: String, value: String) {
        #expect(ExtendedText.encode(text) == value)
        #expect(ExtendedText.decode(value) == text)
    }

    @Test("The language is passed over, and ISO-8859-1 is known, too")
    func others() {
        #expect(ExtendedText.decode("utf-8'en'%e2%82%ac") == "€")
        #expect(ExtendedText.decode("iso-8859-1''%E4") == "ä")
    }

    @Test(
        "Anything else is nothing",
        arguments: ["", "a", "UTF-8'a", "UTF-16''a", "UTF-8''%E4", "UTF-8''%4", "UTF-8''%00"]
    )
    func malformed(value: String) {
        #expect(ExtendedText.decode(value) == nil)
    }
}
