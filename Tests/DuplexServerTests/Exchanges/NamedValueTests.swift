// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Testing

@Suite struct NamedValueTests {
    @Test("Texts are read as the values that they stand for")
    func reading() {
        #expect(NamedValue.read("-7", as: Int.self) == -7)
        #expect(NamedValue.read("x", as: Int.self) == nil && NamedValue.read("256", as: UInt8.self) == nil)
        #expect(NamedValue.read("1.5", as: Double.self) == 1.5)
        #expect(NamedValue.read("", as: String.self)?.isEmpty == true && NamedValue.read("", as: Int.self) == nil)
    }

    @Test("A box that is ticked is true, and not only the word", arguments: ["true", "1", "on"])
    func isTrue(text: String) {
        #expect(NamedValue.read(text, as: Bool.self) == true)
    }

    @Test("A box may be said not to be ticked", arguments: ["false", "0", "off"])
    func isFalse(text: String) {
        #expect(NamedValue.read(text, as: Bool.self) == false)
    }

    @Test("Other words are neither true nor false", arguments: ["", "yes", "TRUE", "2"])
    func isNeither(text: String) {
        #expect(NamedValue.read(text, as: Bool.self) == nil)
    }

    @Test("Numbers that aren't finite are refused", arguments: ["nan", "inf", "-infinity", "1e999"])
    func finite(text: String) {
        #expect(NamedValue.read(text, as: Double.self) == nil)
        #expect(NamedValue.read(text, as: Float.self) == nil)
        #if arch(x86_64)
        if text != "1e999" { #expect(NamedValue.read(text, as: Float80.self) == nil) }
        #else
        #expect(NamedValue.read(text, as: Float16.self) == nil)
        #endif
    }

    @Test("A fault has the name, and says which kind of value is taken")
    func faults() {
        #expect(NamedValue.missing("page") == #""page" is missing"#)
        #expect(NamedValue.unfit("page", Int.self) == #""page" isn't a whole number that fits here"#)
        #expect(NamedValue.unfit("size", Double.self) == #""size" isn't a number"#)
        #expect(NamedValue.unfit("all", Bool.self) == #""all" is neither true nor false"#)
        #expect(NamedValue.unfit("kind", String.self) == #""kind" has a value that isn't taken here"#)
    }

    @Test("A name of the client's is cut, and has no control characters")
    func names() {
        #expect(NamedValue.plain("a\n\u{1B}b" + String(repeating: "x", count: 100)).count == 64)
        #expect(NamedValue.plain("a\n\u{1B}b") == "a__b")
    }
}
