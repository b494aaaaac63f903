// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Percent-decoding")
struct PercentDecodingTests {
    @Test(
        "Each % and its two digits become a byte",
        arguments: [
            ("", ""), ("plain", "plain"), ("a%20b", "a b"), ("%C3%A9", "é"), ("%c3%a9", "é"), ("%25", "%"),
            ("a+b", "a+b"),
            ("%2F", "/"), ("é", "é"), ("%0D%0A", "\r\n"),
        ]
    )
    func decoding(text: String, expected: String) {
        #expect(PercentDecoding.decode(text) == expected)
    }

    @Test(
        "What is malformed, isn't UTF-8 or holds a NUL is refused",
        arguments: [
            "%", "%2", "a%", "%zz", "%2g", "% 20", "%%20", "%FF", "%C3", "%C3%28", "%ED%A0%80", "%C0%AF", "%00",
            "a\u{0}",
        ]
    )
    func refusing(text: String) {
        #expect(PercentDecoding.decode(text) == nil)
    }

    @Test("A plus is a space only where that's asked for")
    func plus() {
        #expect(PercentDecoding.decode("a+b%2B", plusIsSpace: true) == "a b+")
    }

    @Test(
        "A path is cut into segments before it's decoded",
        arguments: [
            ("/", [""]), ("/a/b", ["a", "b"]), ("/a%2Fb/c", ["a/b", "c"]), ("/a/", ["a", ""]), ("//a", ["", "a"]),
            ("/%2e%2e/..", ["..", ".."]), ("/%C3%A9", ["é"]), ("/\u{301}/a", ["\u{301}", "a"]),
        ]
    )
    func segments(path: String, expected: [String]) {
        #expect(PercentDecoding.segments(ofPath: path) == expected)
    }

    @Test(
        "A path that isn't absolute, or can't be decoded, has no segments",
        arguments: ["", "a", "*", "/a/%", "/%FF/a"]
    )
    func noSegments(path: String) {
        #expect(PercentDecoding.segments(ofPath: path) == nil)
    }
}

@Suite("Text in paths")
struct PercentEncodingTests {
    @Test("What may stand in a segment stays, all else is encoded byte by byte")
    func segments() {
        #expect(PercentEncoding.segment("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.segment("a b/c?d#e%f:g@h") == "a%20b%2Fc%3Fd%23e%25f%3Ag%40h")
        #expect(PercentEncoding.segment("é你") == "%C3%A9%E4%BD%A0")
        #expect(PercentEncoding.segment("") == "")
    }

    @Test("What was encoded comes back")
    func roundTrip() {
        for scalar in (1..<0x300).compactMap(Unicode.Scalar.init) {
            #expect(PercentDecoding.decode(PercentEncoding.segment("\(scalar)")) == "\(scalar)")
        }
    }
}
