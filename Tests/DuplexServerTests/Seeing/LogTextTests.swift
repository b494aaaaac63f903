// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("Text of clients in logs")
struct LogTextTests {
    @Test(
        "Nobody begins a line, ends a quotation or steers a terminal",
        arguments: [
            ("plain text/1.0 (x; y)", "plain text/1.0 (x; y)"), ("", ""), ("a\"b", #"a\"b"#), (#"a\b"#, #"a\\b"#),
            ("a\r\nb", #"a\x0d\x0ab"#), ("\u{1b}[2J\u{7f}\0", #"\x1b[2J\x7f\x00"#), ("é", #"\xc3\xa9"#),
            ("\u{9b}", #"\xc2\x9b"#), ("\u{2028}", #"\xe2\x80\xa8"#),
        ]
    )
    func escaped(text: String, expected: String) {
        #expect(LogText.escaped(text) == expected)
    }

    @Test("A word has no spaces")
    func words() {
        #expect(LogText.escaped("a b", isWord: true) == #"a\x20b"#)
        #expect(LogText.escaped("a b") == "a b")
    }
}
