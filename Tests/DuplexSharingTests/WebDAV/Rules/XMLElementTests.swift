// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Elements of XML")
struct XMLElementTests {
    private static let element = XMLElement(
        XMLName("a", in: "u"),
        attributes: [XMLElement.Attribute(.language, "en", prefix: "xml")],
        children: [
            .text("one"), .element(XMLElement(XMLName("b", in: "u"), children: [.text("inner")])), .text(" two"),
            .element(XMLElement(XMLName("c", in: ""))),
        ]
    )

    @Test("What is in it is found by its name")
    func finds() {
        #expect(Self.element.elements.map(\.name.local) == ["b", "c"])
        #expect(Self.element.first(XMLName("b", in: "u"))?.text == "inner")
        #expect(Self.element.first(XMLName("b", in: "")) == nil)
        #expect(Self.element.attribute(.language) == "en" && Self.element.attribute(XMLName("lang", in: "")) == nil)
    }

    @Test("Its text is that between the elements in it")
    func text() {
        #expect(Self.element.text == "one two")
    }
}

@Suite("Names of XML")
struct XMLNameTests {
    @Test("Both parts tell names apart, byte by byte")
    func compares() {
        #expect(XMLName("a", in: "u") == XMLName("a", in: "u"))
        #expect(XMLName("a", in: "u") != XMLName("a", in: "v") && XMLName("a", in: "u") != XMLName("b", in: "u"))
        // The same to look at: one letter, and a letter with its accent.
        #expect(XMLName("\u{E4}", in: "") != XMLName("a\u{308}", in: ""))
        #expect(Set([XMLName("\u{E4}", in: ""), XMLName("a\u{308}", in: "")]).count == 2)
    }

    @Test("They print with their namespace")
    func prints() {
        #expect(XMLName("prop", in: "DAV:").description == "{DAV:}prop" && XMLName("a", in: "").description == "a")
    }
}
