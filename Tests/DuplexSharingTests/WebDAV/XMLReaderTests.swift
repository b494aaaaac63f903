// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Reading XML")
struct XMLReaderTests {
    private static func run(_ pieces: [[UInt8]], _ limits: XMLLimits) throws -> XMLElement {
        let reader = XMLReader(limits)
        for piece in pieces { try reader.append(piece) }
        return try reader.finish()
    }

    /// The same in every split, faults with their lines, too.
    private static func read(_ bytes: [UInt8], _ limits: XMLLimits = XMLLimits()) throws -> XMLElement {
        try SplitVerifier().verify(bytes) { try run($0, limits) }
    }

    private static func read(_ text: String, _ limits: XMLLimits = XMLLimits()) throws -> XMLElement {
        try read(Array(text.utf8), limits)
    }

    private static func code(_ text: String, _ limits: XMLLimits = XMLLimits()) -> XMLError.Code? {
        do {
            _ = try read(text, limits)
            return nil
        } catch {
            return (error as? XMLError)?.code
        }
    }

    // MARK: Trees

    @Test("Namespaces are those in scope, whatever their prefixes")
    func namespaces() throws {
        let text = #"<D:a xmlns:D="DAV:" xmlns="u:"><b x="1" D:y="2"><D:c/><d xmlns=""/></b></D:a>"#
        let root = try Self.read(text)
        #expect(root.name == XMLName("a", in: "DAV:") && root.prefix == "D")
        let inner = try #require(root.first(XMLName("b", in: "u:")))
        #expect(inner.attributes.map(\.name) == [XMLName("x", in: ""), XMLName("y", in: "DAV:")])
        #expect(inner.attributes.map(\.prefix) == ["", "D"] && inner.attributes.map(\.value) == ["1", "2"])
        #expect(inner.elements.map(\.name) == [XMLName("c", in: "DAV:"), XMLName("d", in: "")])
    }

    @Test("Texts and elements stay in order; references are resolved, comments and instructions left out")
    func mixedContent() throws {
        let root = try Self.read("<a>one &amp; <b>two</b><!-- no --> t&#104;r<![CDATA[<ee>]]><?no?>\r\n</a>")
        let inner = XMLElement(XMLName("b", in: ""), children: [.text("two")])
        #expect(root.children == [.text("one & "), .element(inner), .text(" thr<ee>\n")])
        #expect(root.text == "one &  thr<ee>\n")
    }

    @Test("The language of a text is an attribute like others")
    func language() throws {
        #expect(try Self.read(#"<a xml:lang="de-AT">ä</a>"#).attribute(.language) == "de-AT")
    }

    @Test("UTF-16 and Latin 1 are read as what they say they are")
    func encodings() throws {
        let utf16: [UInt8] = [0xFE, 0xFF] + "<a>äß€</a>".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        #expect(try Self.read(utf16).text == "äß€")
        let latin = Array(#"<?xml version="1.0" encoding="iso-8859-1"?><a>"#.utf8) + [0xE4] + Array("</a>".utf8)
        #expect(try Self.read(latin).text == "ä")
    }

    // MARK: Faults

    @Test(
        "What is no XML is refused",
        arguments: [
            "", " ", "<a>", "<a></b>", "<a/><b/>", "<a b=1/>", "<x:a/>", "<a>&nbsp;</a>", "<a x='1' x='2'/>",
            "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>", "<a>\u{1}</a>", "{}",
            "<?xml version='1.0' encoding='ebcdic'?><a/>", "<a xmlns:p=''/>", "<a xmlns:xml='u'/>",
        ]
    )
    func malformed(text: String) {
        #expect(Self.code(text) == .malformed)
    }

    @Test("Bytes that are no UTF-8 are refused")
    func invalidText() {
        #expect(throws: XMLError.self) { try Self.read(Array("<a>".utf8) + [0xC3, 0x28] + Array("</a>".utf8)) }
    }

    @Test(
        "A document type is refused, and so every entity",
        arguments: [
            "<!DOCTYPE a><a/>", "<!DOCTYPE a SYSTEM 'http://example.org/a.dtd'><a/>",
            "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
            "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><a>&c;</a>",
            "<!DOCTYPE a [<!ENTITY % b SYSTEM 'file:///etc/passwd'> %b;]><a/>",
        ]
    )
    func documentTypes(text: String) {
        #expect(Self.code(text) == .documentType)
    }

    @Test("Each bound holds, and what is just within it is read")
    func bounds() {
        var limits = XMLLimits(bytes: 100, depth: 3, elements: 5, attributes: 2, name: 8)
        #expect(Self.code("<a>" + String(repeating: " ", count: 93) + "</a>", limits) == nil)
        #expect(Self.code("<a>" + String(repeating: " ", count: 94) + "</a>", limits) == .tooLarge)
        #expect(Self.code("<a><a><a/></a></a>", limits) == nil)
        #expect(Self.code("<a><a><a><a/></a></a></a>", limits) == .tooLarge)
        #expect(Self.code("<a><a/><a/><a/><a/></a>", limits) == nil)
        #expect(Self.code("<a><a/><a/><a/><a/><a/></a>", limits) == .tooLarge)
        #expect(Self.code("<a b='' c=''/>", limits) == nil)
        #expect(Self.code("<a b='' c='' d=''/>", limits) == .tooLarge)
        #expect(Self.code("<abcdefgh/>", limits) == nil)
        #expect(Self.code("<abcdefghi/>", limits) == .tooLarge)
        #expect(Self.code("<a abcdefghi=''/>", limits) == .tooLarge)
        limits.bytes = 1_000
        #expect(Self.code("<a xmlns='long-namespace'/>", limits) == .tooLarge)
    }

    @Test("Behind a fault nothing is read, and the fault stays")
    func faultsStay() {
        let reader = XMLReader()
        #expect(throws: XMLError.self) { try reader.append(Array("<a></b>".utf8)) }
        #expect(throws: XMLError.self) { try reader.append(Array("<a/>".utf8)) }
        #expect(throws: XMLError.self) { try reader.finish() }
    }

    @Test("A text of many lines, each of which expat gives by itself, isn't copied for each", .timeLimit(minutes: 1))
    func manyLines() throws {
        // Copying what came before for each of a million lines would take minutes.
        let text = String(repeating: "\n", count: 1_000_000)
        #expect(try Self.run([Array("<a>\(text)</a>".utf8)], XMLLimits()).text.utf8.count == 1_000_000)
    }

    @Test("A long text in many pieces is whole")
    func longText() throws {
        let text = String(repeating: "x&lt;\n", count: 20_000)
        let pieces = stride(from: 0, to: text.utf8.count, by: 100).map { Array(text.utf8.dropFirst($0).prefix(100)) }
        let root = try Self.run([Array("<a>".utf8)] + pieces + [Array("</a>".utf8)], XMLLimits())
        #expect(root.text == String(repeating: "x<\n", count: 20_000))
    }
}

@Suite("Faults of XML")
struct XMLErrorTests {
    @Test("They say where and what")
    func describes() {
        let error = #expect(throws: XMLError.self) { try XMLReader.element(of: Array("<a>\n</b>".utf8)) }
        #expect(error?.code == .malformed && error?.line == 2)
        #expect(error?.description == "line 2: This is no XML: mismatched tag.")
    }
}

@Suite("Bounds of XML")
struct XMLLimitsTests {
    @Test("A document at every bound of the defaults is read")
    func defaults() throws {
        let limits = XMLLimits()
        let leaves = String(repeating: "<a/>", count: limits.elements - limits.depth)
        let opening = String(repeating: "<a>", count: limits.depth - 1)
        let closing = String(repeating: "</a>", count: limits.depth - 1)
        let root = try XMLReader.element(of: Array((opening + leaves + "<a/>" + closing).utf8))
        #expect(root.elements.count == 1)
        #expect(throws: XMLError.self) {
            try XMLReader.element(of: Array((opening + leaves + "<a/><a/>" + closing).utf8))
        }
    }
}
