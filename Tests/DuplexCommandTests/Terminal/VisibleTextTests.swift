// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("Text made visible")
struct VisibleTextTests {
    @Test(
        "What a terminal might obey is replaced",
        arguments: [
            ("\u{1b}[2J", "␛[2J"), ("a\u{7}b", "a␇b"), ("\0", "␀"), ("line\r\nnext", "line␍␊next"),
            ("tab\there", "tab␉here"),
            ("\u{7f}", "␡"), ("\u{9b}31m", "\\u{9b}31m"), ("\u{80}", "\\u{80}"), ("\u{9f}", "\\u{9f}"),
            ("user\u{202e}txt.exe", "user\\u{202e}txt.exe"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"), ("\u{feff}", "\\u{feff}"),
            ("e\u{301}\u{1b}", "e\u{301}␛"), ("a\u{ad}b", "a\\u{ad}b"), ("a\u{200b}\u{200c}b", "a\\u{200b}\\u{200c}b"),
            ("\u{1f469}\u{200d}\u{1f467}", "\u{1f469}\\u{200d}\u{1f467}"), ("\u{2060}\u{2064}", "\\u{2060}\\u{2064}"),
            ("x\u{e0001}\u{e0041}", "x\\u{e0001}\\u{e0041}"), ("\u{e0000}\u{e0100}", "\\u{e0000}\\u{e0100}"),
            ("\u{600}1\u{6dd}", "\\u{600}1\\u{6dd}"), ("\u{180e}\u{110bd}", "\\u{180e}\\u{110bd}"),
        ]
    )
    func replaced(text: String, visible: String) {
        #expect(Array(text.visible.unicodeScalars) == Array(visible.unicodeScalars))
    }

    @Test(
        "What is only unusual stays as it is",
        arguments: ["", "plain", "über ✓", "👩 ❤️ 🇪🇺", "שלום", "back\\slash", "\u{a0}"]
    )
    func kept(text: String) {
        #expect(Array(text.visible.unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test("No control, no separator of lines and no format character of Unicode is left")
    func exhaustive() {
        let values = [UInt32(0)...0xD7FF, 0xE000...0x1_FFFF, 0xE_0000...0xE_0FFF].joined()
        let all = values.compactMap(Unicode.Scalar.init).reduce(into: "") { $0.unicodeScalars.append($1) }
        let left = all.visible.unicodeScalars.filter { scalar in
            [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(left.isEmpty)
    }

    @Test("Bytes are shown as pairs of digits")
    func hexadecimal() {
        #expect([0x00, 0x0f, 0xff].hexadecimal == "00 0f ff")
        #expect([UInt8]().hexadecimal == "")
    }
}
