// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Writing XML")
struct XMLWriterTests {
    private static func text(_ element: XMLElement, within scope: [(prefix: String, namespace: String)] = []) -> String
    {
        var writer = XMLWriter(within: scope)
        writer.add(element)
        return writer.text
    }

    @Test("A namespace is declared where it is needed first, under the prefix that the document had")
    func declares() {
        let inner = XMLElement(XMLName("b", in: "u:1"), prefix: "p", children: [.text("x")])
        let other = XMLElement(XMLName("c", in: "u:2"), prefix: "p")
        let root = XMLElement(XMLName("a", in: "u:1"), prefix: "p", children: [.element(inner), .element(other)])
        #expect(Self.text(root) == #"<p:a xmlns:p="u:1"><p:b>x</p:b><p:c xmlns:p="u:2"/></p:a>"#)
        #expect(Self.text(inner, within: [("p", "u:1")]) == "<p:b>x</p:b>")
        #expect(Self.text(inner, within: [("p", "u:9")]) == #"<p:b xmlns:p="u:1">x</p:b>"#)
    }

    @Test("Without a prefix one that is there is taken, or a new one is made; without a namespace there is none")
    func prefixes() {
        let davName = XMLElement(XMLName("a", in: "DAV:"))
        #expect(Self.text(davName, within: [("D", "DAV:")]) == "<D:a/>")
        #expect(Self.text(davName) == #"<n0:a xmlns:n0="DAV:"/>"#)
        #expect(Self.text(davName, within: [("D", "DAV:"), ("D", "u:")]) == #"<n2:a xmlns:n2="DAV:"/>"#)
        #expect(Self.text(davName, within: [("n1", "u:")]) == #"<n2:a xmlns:n2="DAV:"/>"#)
        let bare = XMLElement(XMLName("a", in: ""), children: [.element(XMLElement(XMLName("b", in: "")))])
        #expect(Self.text(bare, within: [("D", "DAV:")]) == "<a><b/></a>")
    }

    @Test("Attributes have the namespaces that they had, and two don't share a prefix for different ones")
    func attributes() {
        let element = XMLElement(
            XMLName("a", in: "u:1"),
            prefix: "p",
            attributes: [
                XMLElement.Attribute(XMLName("x", in: ""), "1"),
                XMLElement.Attribute(XMLName("y", in: "u:2"), "2", prefix: "p"),
                XMLElement.Attribute(.language, "de", prefix: "xml"),
            ]
        )
        #expect(Self.text(element) == #"<p:a xmlns:p="u:1" xmlns:n1="u:2" x="1" n1:y="2" xml:lang="de"/>"#)
    }

    @Test("What would be markup is escaped, and what XML doesn't have is replaced")
    func escapes() {
        let text = "a<b>&\"'\r\n\t\u{0}\u{1}\u{FFFE}ä😀]]>"
        let element = XMLElement(
            XMLName("a", in: ""),
            attributes: [XMLElement.Attribute(XMLName("b", in: ""), text)],
            children: [.text(text)]
        )
        let (gap, end) = ("\u{FFFD}\u{FFFD}\u{FFFD}", "ä😀]]&gt;")
        let attribute = "a&lt;b&gt;&amp;&quot;'&#13;&#10;&#9;" + gap + end
        let content = "a&lt;b&gt;&amp;\"'&#13;\n\t" + gap + end
        #expect(Self.text(element) == "<a b=\"\(attribute)\">\(content)</a>")
        let namespace = XMLElement(XMLName("a", in: "u:\"<"))
        #expect(Self.text(namespace) == #"<n0:a xmlns:n0="u:&quot;&lt;"/>"#)
    }

    @Test("What is opened is closed in turn, and its namespaces end with it")
    func opens() {
        var writer = XMLWriter()
        writer.begin(XMLName("a", in: "u:1"), prefix: "p")
        writer.leaf(XMLName("b", in: "u:1"), "x")
        writer.leaf(XMLName("c", in: "u:1"))
        writer.add("y")
        writer.end()
        writer.leaf(XMLName("d", in: "u:1"))
        writer.end()
        #expect(writer.text == #"<p:a xmlns:p="u:1"><p:b>x</p:b><p:c/>y</p:a><n0:d xmlns:n0="u:1"/>"#)
    }
}
