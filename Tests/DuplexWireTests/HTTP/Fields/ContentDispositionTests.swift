// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Content-Disposition")
struct ContentDispositionTests {
    @Test(
        "An attachment is named for clients that know one form, and for those that know both",
        arguments: [
            (nil, "attachment"),
            ("a.txt", #"attachment; filename="a.txt""#),
            ("a b;c.txt", #"attachment; filename="a b;c.txt""#),
            ("naïve.txt", #"attachment; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve.txt"#),
            ("a\"b.txt", #"attachment; filename="a_b.txt"; filename*=UTF-8''a%22b.txt"#),
            ("€ 1%.txt", #"attachment; filename="_ 1_.txt"; filename*=UTF-8''%E2%82%AC%201%25.txt"#),
            ("a\r\nX: y", #"attachment; filename="a__X: y"; filename*=UTF-8''a%0D%0AX%3A%20y"#),
        ] as [(String?, String)]
    )
    func attachment(filename: String?, value: String) throws {
        let disposition = ContentDisposition.attachment(filename: filename)
        #expect(disposition.description == value)
        let read = try #require(ContentDisposition(field: value))
        #expect(read == disposition && read.filename == filename)
    }

    @Test("What is shown may have a name, too")
    func inline() {
        #expect(ContentDisposition.inline().description == "inline")
        #expect(ContentDisposition.inline(filename: "x").description == #"inline; filename="x""#)
    }

    @Test(
        "Names of fields and files are read as browsers send them",
        arguments: [
            (#"form-data; name="a""#, "a", nil),
            (#"Form-Data; NAME=a; FileName=b"#, "a", "b"),
            (#"form-data; name="a\"b"; filename="C:\dir\x.txt""#, "a\"b", #"C:\dir\x.txt"#),
            (#"form-data; name="a\\b""#, #"a\b"#, nil),
            (#"form-data; name="ä"; filename="€.txt";"#, "ä", "€.txt"),
            (#"form-data; name=x; filename="fallback"; filename*=UTF-8'en'%e2%82%ac"#, "x", "€"),
            (#"form-data; name=x; filename*=iso-8859-1''%E4; filename="fallback""#, "x", "ä"),
            (#"form-data; name=x; filename="fallback"; filename*=UTF-16''a"#, "x", "fallback"),
            (#"form-data; name=x; filename="fallback"; filename*=UTF-8''%E4"#, "x", "fallback"),
            (#"form-data; name=x; filename="fallback"; filename*=nonsense"#, "x", "fallback"),
            (#"form-data; name="a%22b""#, "a%22b", nil),
            (#"form-data; name="a"; filename="dir\""#, "a", #"dir\"#),
            (#"form-data; name="a\"; filename="b""#, #"a\"#, "b"),
        ] as [(String, String, String?)]
    )
    func reading(value: String, name: String, filename: String?) throws {
        let disposition = try #require(ContentDisposition(field: value))
        #expect(disposition.kind == "form-data")
        #expect(disposition.name == name && disposition.filename == filename)
    }

    @Test(
        "What is malformed is none",
        arguments: [
            "", ";", "form-data; name", "form-data; name=", "form-data; name=\"a", "form-data; name=\"a\" b",
            "form-data name=a", "form-data; name=a; name=b", "form-data; =a", "form-data; name=\"a\\",
        ]
    )
    func malformed(value: String) {
        #expect(ContentDisposition(field: value) == nil)
    }

    @Test("So is one with too many parameters")
    func bounded() {
        let many = (0..<17).map { "; p\($0)=1" }
        #expect(ContentDisposition(field: "x" + many.dropLast().joined()) != nil)
        #expect(ContentDisposition(field: "x" + many.joined()) == nil)
    }

    @Test(
        "A safe name is the last of a path, and none that leads elsewhere",
        arguments: [
            ("a.txt", "a.txt"), ("/etc/passwd", "passwd"), (#"C:\a\b.txt"#, "b.txt"), ("../../x", "x"), ("a/..", nil),
            ("..", nil), (".", nil), ("a/", nil), (#"a\"#, nil), ("a\u{1}b\u{1B}c", "abc"), ("\u{7F}", nil),
            (".profile", ".profile"),
        ] as [(String, String?)]
    )
    func safe(filename: String, expected: String?) {
        #expect(ContentDisposition.attachment(filename: filename).safeFilename == expected)
    }
}
