// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Scanning a field")
struct FieldScannerTests {
    @Test("A token ends where no token byte stands")
    func token() {
        var scanner = FieldScanner("abc-1;x")
        #expect(scanner.token() == "abc-1")
        #expect(scanner.token() == nil)
        #expect(scanner.skip(";") && scanner.token() == "x" && scanner.isAtEnd)
        #expect(!scanner.skip(";") && !scanner.isAtBlank)
    }

    @Test(
        "A quoted string is what it stands for, and none where it doesn't end",
        arguments: [
            (#""a b""#, "a b"), (#""""#, ""), (#""a\"b\\c\d""#, #"a"b\cd"#), (#""a"#, nil), (#""a\"#, nil),
            (#""a\""#, nil),
            ("a", nil), ("", nil),
        ] as [(String, String?)]
    )
    func quoted(value: String, text: String?) {
        var scanner = FieldScanner(value)
        #expect(scanner.quotedString() == text)
    }

    @Test("Parameters are names in lower case with words; empty ones are passed over")
    func parameters() {
        var scanner = FieldScanner(#" ; A = 1 ;; b="x;y" ;"#)
        #expect(scanner.parameters(atMost: 2)?.map { "\($0.name)=\($0.value)" } == ["a=1", "b=x;y"])
        #expect(scanner.isAtEnd)
    }

    @Test(
        "A parameter without a value, and one too many, are malformed",
        arguments: [";a", ";a=", ";=1", ";a=1;b=2;c=3"]
    )
    func malformed(value: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.parameters(atMost: 2) == nil)
    }

    @Test("A member ends at a comma that isn't quoted")
    func members() {
        var scanner = FieldScanner(#"a;x="1,2", ,b, "c"#)
        scanner.skipMember()
        #expect(scanner.isAt(","))
        scanner.skipCommas()
        #expect(scanner.token() == "b")
        scanner.skipCommas()
        scanner.skipMember()
        #expect(scanner.isAtEnd)
    }
}

@Suite struct QuotedTextTests {
    @Test(
        "Marks and backslashes are escaped, whatever follows them",
        arguments: [("", "\"\""), ("a b", "\"a b\""), ("a\"b\\", "\"a\\\"b\\\\\""), ("\"\u{301}", "\"\\\"\u{301}\"")]
    )
    func quoting(text: String, quoted: String) {
        #expect(QuotedText.of(text) == quoted)
    }
}

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
