// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("expat")
struct ExpatParserTests {
    @Test("A name has its namespace and its prefix, where it has them")
    func names() {
        let triplet = ExpatParser.Name("DAV:\u{1}prop\u{1}D")
        #expect(triplet.xml == XMLName("prop", in: "DAV:") && triplet.prefix == "D" && triplet.length == 11)
        let pair = ExpatParser.Name("DAV:\u{1}prop")
        #expect(pair.xml == XMLName("prop", in: "DAV:") && pair.prefix == "")
        let plain = ExpatParser.Name("prop")
        #expect(plain.xml == XMLName("prop", in: "") && plain.prefix == "")
    }

    @Test("It tells the line and the fault")
    func tells() {
        let parser = ExpatParser()
        let reader = XMLReader()
        let (first, second) = (Array("<a>\n".utf8), Array("</b>".utf8))
        let takesFirst = parser.parse(first.span, isLast: false, for: reader)
        let takesSecond = parser.parse(second.span, isLast: true, for: reader)
        #expect(takesFirst && !takesSecond)
        #expect(parser.line == 2 && parser.fault == "mismatched tag")
    }
}
