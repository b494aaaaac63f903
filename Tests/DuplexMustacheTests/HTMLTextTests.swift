// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexMustache

@Suite("Text in HTML")
struct HTMLTextTests {
    @Test("What means something in HTML is escaped, whatever stands beside it")
    func escapes() {
        #expect(HTMLText().escapeText("&<>\"'") == "&amp;&lt;&gt;&quot;&#39;")
        #expect(HTMLText().escapeText("ä“€” 😀`=/") == "ä“€” 😀`=/")
        #expect(HTMLText().escapeText("<\u{338}\"\u{301}") == "&lt;\u{338}&quot;\u{301}")
        #expect(HTMLText().escapeText("") == "")
    }
}
