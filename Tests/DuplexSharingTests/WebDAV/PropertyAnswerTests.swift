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
