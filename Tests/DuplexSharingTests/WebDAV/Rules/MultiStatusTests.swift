// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Answers about several resources")
struct MultiStatusTests {
    @Test("Properties by what became of them")
    func properties() {
        let found: [MultiStatus.Property] = [
            .value(.dav("getetag", text: "\"1\"")), .value(XMLElement(XMLName("a", in: "u:"), prefix: "z")),
        ]
        let document = MultiStatus(naming: [.dav("none")])
        let text = document.response("/a%20b", [(.ok, found), (.forbidden, []), (.notFound, [.name(0)])])
        let expected = """
            <D:response><D:href>/a%20b</D:href><D:propstat><D:prop><D:getetag>"1"</D:getetag><z:a xmlns:z="u:"/>\
            </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat><D:propstat><D:prop><D:none/></D:prop>\
            <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>

            """
        #expect(text == expected)
    }

    @Test("The names of a request are escaped and declared once, whatever the number of resources")
    func naming() {
        let namespace = String(repeating: "\"", count: 1_000)
        let names = [
            XMLName("a", in: namespace), .dav("b"), XMLName("c", in: ""), XMLName("d", in: "u:e\u{301}"),
            XMLName("e", in: "u:\u{E9}"), XMLName("f", in: namespace), .language,
        ]
        let document = MultiStatus(naming: names)
        let declared = #" xmlns:D="DAV:" xmlns:n1="\#(String(repeating: "&quot;", count: 1_000))""#
        #expect(document.start.contains(declared + " xmlns:n2=\"u:e\u{301}\" xmlns:n3=\"u:\u{E9}\">\n"))
        let text = document.response("/a", [(.notFound, names.indices.map(MultiStatus.Property.name))])
        #expect(text.contains("<D:prop><n1:a/><D:b/><c/><n2:d/><n3:e/><n1:f/><xml:lang/></D:prop>"))
        #expect(text.utf8.count < 300)
    }

    @Test("Without any property there is an empty list")
    func nothing() {
        let expected = """
            <D:response><D:href>/a</D:href><D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status></D:propstat>\
            </D:response>

            """
        #expect(MultiStatus().response("/a", []) == expected)
    }

    @Test("What is forbidden says why")
    func forbidden() {
        let text = MultiStatus().response("/a", [(.forbidden, [.value(.dav("getetag"))])], error: .dav("why"))
        #expect(text.contains("</D:status><D:error><D:why/></D:error></D:propstat>"))
    }

    @Test("What became of a resource")
    func status() {
        let text = MultiStatus.response("/a", .locked, error: .dav("x"), description: "It is <locked>.")
        let expected = """
            <D:response><D:href>/a</D:href><D:status>HTTP/1.1 423 Locked</D:status><D:error><D:x/></D:error>\
            <D:responsedescription>It is &lt;locked&gt;.</D:responsedescription></D:response>

            """
        #expect(text == expected)
    }

    @Test("A document declares what it needs")
    func document() {
        let expected = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:error xmlns:D=\"DAV:\"><D:x/></D:error>\n"
        #expect(MultiStatus.document(.dav("error", [.dav("x")])) == expected)
    }

    @Test("A sentence about all of it stands at the end, and none where there is none")
    func remark() {
        #expect(MultiStatus.end(nil) == MultiStatus.end)
        let end = "<D:responsedescription>1 &lt; 2</D:responsedescription>\n</D:multistatus>\n"
        #expect(MultiStatus.end("1 < 2") == end)
    }
}
