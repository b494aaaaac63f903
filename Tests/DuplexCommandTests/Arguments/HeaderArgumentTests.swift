// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("A header field on the command line")
struct HeaderArgumentTests {
    @Test(
        "A name, a colon and a value make a field",
        arguments: [
            ("Name: value", "Name", "value"), ("name:value", "name", "value"), ("X-A:  \t spaced", "X-A", "spaced"),
            ("Authorization: Bearer a:b", "Authorization", "Bearer a:b"), ("Empty:", "Empty", ""),
        ]
    )
    func accepted(text: String, name: String, value: String) {
        let field = HeaderArgument(argument: text)?.field
        #expect(field?.name.rawName == name)
        #expect(field?.value == value)
    }

    @Test(
        "What would break out of the field is refused",
        arguments: [
            "", "novalue", ": value", "two words: x", "Name: a\r\nInjected: b", "Name: a\nb", "Na\u{0}me: x",
            "Name: \u{0}",
        ]
    )
    func refused(text: String) {
        #expect(HeaderArgument(argument: text) == nil)
    }
}
