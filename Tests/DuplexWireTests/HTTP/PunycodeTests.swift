// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Punycode")
struct PunycodeTests {
    /// The names are those that libidn2 makes, the second group that of RFC 3492 section 7.1.
    @Test(
        "Names that need no tables are encoded",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("münchen", "xn--mnchen-3ya"),
            ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"), ("日本語.jp", "xn--wgv71a119e.jp"),
            ("한국", "xn--3e0b707e"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("a.b-c.", "a.b-c."), ("localhost", "localhost"), ("é", "xn--9ca"),
        ]
    )
    func encoding(host: String, ascii: String) {
        #expect(Punycode.host(host) == ascii)
    }

    @Test(
        "Names whose characters are mapped to others, or are none of a name, and labels that are too long, have none",
        arguments: ["faß.de", "ａ", "a\u{308}", "😀", "a b", "ü/a", "ü_", String(repeating: "ü", count: 64), "ﬁ", "²"]
    )
    func others(host: String) {
        #expect(Punycode.host(host) == nil)
    }
}
