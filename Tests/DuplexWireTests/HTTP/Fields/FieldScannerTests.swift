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
