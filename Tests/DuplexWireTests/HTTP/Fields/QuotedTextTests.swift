// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct QuotedTextTests {
    @Test(
        "Marks and backslashes are escaped, whatever follows them",
        arguments: [("", "\"\""), ("a b", "\"a b\""), ("a\"b\\", "\"a\\\"b\\\\\""), ("\"\u{301}", "\"\\\"\u{301}\"")]
    )
    func quoting(text: String, quoted: String) {
        #expect(QuotedText.of(text) == quoted)
    }
}
