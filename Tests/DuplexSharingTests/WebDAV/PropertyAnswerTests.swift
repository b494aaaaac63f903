// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexWire
import Foundation
import Testing

@testable import DuplexSharing

@Suite("Answers to PROPFIND")
struct PropertyAnswerTests {
    @Test("The disk is asked only for what is asked for")
    func needs() {
        let live = PropertyAnswer(.named([.dav("getetag"), .dav("resourcetype")]))
        #expect(!live.needsDead && !live.needsSpace)
        #expect(PropertyAnswer(.named([.dav("displayname")])).needsDead)
        #expect(PropertyAnswer(.named([XMLName("a", in: "u:")])).needsDead)
        #expect(PropertyAnswer(.names).needsDead && !PropertyAnswer(.names).needsSpace)
        #expect(PropertyAnswer(.all(including: [.dav("quota-used-bytes")])).needsSpace)
        #expect(!PropertyAnswer(.all(including: [])).needsSpace)
        #expect(!live.needsLocks && PropertyAnswer(.named([.dav("lockdiscovery")])).needsLocks)
        #expect(PropertyAnswer(.all(including: [])).needsLocks && PropertyAnswer(.names).needsLocks)
    }

    /// A file of no folder.
    private static func facts(_ body: (LiveProperty.Facts) throws -> Void) async throws {
        try await withTestFolder(["a": "Hello"]) { root in
            let entry = try #require(try await SharedFolder(root).entries(of: .root).entries.first)
            try body(LiveProperty.Facts(entry: entry))
        }
    }

    @Test("What a request names isn't longer in the answers for being escaped")
    func escaped() async throws {
        let names = (0..<256).map { XMLName("a\($0)", in: String(repeating: "\"", count: 1_000)) }
        let answer = PropertyAnswer(.named(names))
        try await Self.facts { facts in
            #expect(answer.piece("/a", facts, []).utf8.count < 4_096)
            #expect(answer.document.start.utf8.count < 8_192)
        }
    }

    @Test("Names are found among properties of clients, those without a value are in a list of their own")
    func sorts() async throws {
        let noted = XMLElement(XMLName("n", in: "u:"), prefix: "u", children: [.text("x")])
        let names = [XMLName("n", in: "u:"), .dav("getcontentlength"), .dav("none"), .dav("quota-used-bytes")]
        try await Self.facts { facts in
            let named = PropertyAnswer(.named(names)).piece("/a", facts, [noted])
            #expect(named.contains("<u:n xmlns:u=\"u:\">x</u:n><D:getcontentlength>5</D:getcontentlength></D:prop>"))
            #expect(named.contains("<D:prop><D:none/><D:quota-used-bytes/></D:prop>"))
            let all = PropertyAnswer(.all(including: names)).piece(
                "/a",
                facts,
                [noted, .dav("displayname", text: "y")]
            )
            #expect(all.components(separatedBy: "</D:getcontentlength>").count == 2)
            #expect(all.components(separatedBy: "</u:n>").count == 2 && all.contains("<D:displayname>y<"))
            #expect(all.contains("<D:prop><D:none/><D:quota-used-bytes/></D:prop>"))
            let names = PropertyAnswer(.names).piece("/a", facts, [noted, .dav("displayname", text: "y")])
            #expect(names.contains("n=\"u:\"/>") || names.contains(":n xmlns:"))
            #expect(!names.contains(">y<"))
        }
    }
}

@Suite("Properties that the server knows")
struct LivePropertyTests {
    @Test("They are found by their names in DAV:")
    func names() {
        #expect(LiveProperty(.dav("getetag")) == .tag && LiveProperty(.dav("none")) == nil)
        #expect(LiveProperty(XMLName("getetag", in: "u:")) == nil)
        #expect(LiveProperty.allCases.filter { !$0.isProtected } == [.displayName])
        #expect(LiveProperty.allCases.filter { !$0.isCommon } == [.room, .used])
    }

    @Test("A folder has other ones than a file")
    func kinds() async throws {
        try await withTestFolder(["a.png": "x", "f/": ""]) { root in
            let folder = try SharedFolder(root)
            let entries = try await folder.entries(of: .root).entries
            let file = try #require(entries.first { $0.name == "a.png" })
            let inner = try #require(entries.first { $0.name == "f" })
            func properties(_ entry: FolderEntry) -> Set<LiveProperty> {
                Set(LiveProperty.allCases.filter { $0.element(LiveProperty.Facts(entry: entry)) != nil })
            }
            #expect(properties(file).subtracting(properties(inner)) == [.length, .contentType, .tag])
            #expect(properties(inner).isSubset(of: properties(file)))
            #expect(LiveProperty.contentType.element(LiveProperty.Facts(entry: file))?.text == "image/png")
        }
    }
}

@Suite("Properties as they are kept")
struct DeadPropertiesTests {
    @Test("They come back as they were; none take no place")
    func roundTrip() {
        let properties = [
            XMLElement(
                XMLName("a", in: "u:1"),
                prefix: "x",
                attributes: [XMLElement.Attribute(.language, "de", prefix: "xml")],
                children: [.text("one "), .element(XMLElement(XMLName("b", in: "u:2"), prefix: "x"))]
            ),
            XMLElement(XMLName("c", in: "")),
        ]
        #expect(DeadProperties.properties(in: DeadProperties.bytes(of: properties)) == properties)
        #expect(DeadProperties.bytes(of: []) == nil && DeadProperties.properties(in: nil) == [])
    }

    @Test("What others have put there is none", arguments: ["", "x", "<a/>", "<properties><a/></properties>"])
    func unreadable(text: String) {
        #expect(DeadProperties.properties(in: Array(text.utf8)) == [])
    }
}
