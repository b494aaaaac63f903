// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Text in pages")
struct HTMLEscapingTests {
    @Test("What would be markup is written as references, whatever stands behind it")
    func escaping() {
        #expect(HTMLEscaping.escaped(#"<a b="c" d='e'>&"#) == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;")
        #expect(HTMLEscaping.escaped("\"\u{301}") == "&quot;\u{301}")
        #expect(HTMLEscaping.escaped("Grüße 你好\n") == "Grüße 你好\n")
    }
}
