// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("The grammar of HTTP")
struct GrammarTests {
    @Test("A byte may stand in a token exactly if the field types think so", arguments: UInt8.min...UInt8.max)
    func tokenBytes(byte: UInt8) {
        let text = String(Unicode.Scalar(byte))
        #expect(Grammar.isTokenByte(byte) == (HTTPField.Name(text) != nil))
    }

    @Test("Letters, digits and hexadecimal digits are those of ASCII", arguments: UInt8.min...UInt8.max)
    func classes(byte: UInt8) {
        let character = Character(Unicode.Scalar(byte))
        #expect(Grammar.isLetter(byte) == (character.isASCII && character.isLetter))
        #expect(Grammar.isDigit(byte) == ("0"..."9").contains(character))
        #expect(Base16.value(of: byte).map(Int.init) == (character.isASCII ? character.hexDigitValue : nil))
    }

    @Test(
        "A number is decimal digits and nothing else",
        arguments: [
            ("0", 0), ("007", 7), ("9223372036854775807", Int.max), ("9223372036854775808", nil), ("", nil),
            ("+1", nil),
            ("-1", nil), (" 1", nil), ("1x", nil), ("0x1", nil), ("١", nil), ("99999999999999999999", nil),
        ] as [(String, Int?)]
    )
    func decimal(text: String, expected: Int?) {
        #expect(Grammar.decimal(text.utf8) == expected)
    }

    @Test(
        "A list is cut at commas, and its empty members are left out",
        arguments: [
            ("a", ["a"]), ("a,b", ["a", "b"]), (" a\t, b ,", ["a", "b"]), (",, ,", []), ("", []),
            ("a b, c", ["a b", "c"]),
        ]
    )
    func list(text: String, expected: [String]) {
        #expect(Grammar.list(text).map(String.init) == expected)
    }

    @Test("Only the case of ASCII letters is passed over")
    func matching() {
        #expect(Grammar.matches("WebSocket", "websocket"))
        #expect(!Grammar.matches("websocke", "websocket"))
        #expect(!Grammar.matches("web\u{17F}ocket", "websocket"))
        // The Kelvin sign, which Unicode lowercases to k.
        #expect(!Grammar.matches("websoc\u{212A}et", "websocket"))
        #expect(!Grammar.matches("@", "`"))
    }

    @Test("Spaces and tabs are trimmed, other white space isn't")
    func trimming() {
        #expect(Grammar.trimmed(" \ta b\t ") == "a b")
        #expect(Grammar.trimmed("  ") == "")
        #expect(Grammar.trimmed("\u{A0}a") == "\u{A0}a")
    }
}
