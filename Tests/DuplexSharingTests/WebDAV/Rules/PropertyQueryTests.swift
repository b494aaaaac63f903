// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("What a PROPFIND asks for")
struct PropertyQueryTests {
    private static func names(_ count: Int) -> XMLElement {
        .dav("prop", (0..<count).map { .dav("p\($0)") })
    }

    @Test("Without a body it is all")
    func empty() throws {
        #expect(try PropertyQuery(nil) == .all(including: []))
    }

    @Test("The three questions")
    func questions() throws {
        let names = [XMLName.dav("a"), XMLName("b", in: "u:")]
        let list = names.map { XMLElement($0) }
        #expect(try PropertyQuery(.dav("propfind", [.dav("prop", list + list)])) == .named(names))
        #expect(try PropertyQuery(.dav("propfind", [.dav("propname")])) == .names)
        #expect(try PropertyQuery(.dav("propfind", [.dav("allprop")])) == .all(including: []))
        let including = XMLElement.dav("propfind", [.dav("allprop"), .dav("include", list)])
        #expect(try PropertyQuery(including) == .all(including: names))
        // What isn't known is passed over (RFC 4918 section 17).
        let extended = XMLElement.dav("propfind", [.dav("leave-out"), .dav("prop", list)])
        #expect(try PropertyQuery(extended) == .named(names))
    }

    @Test("No question, two, and another document are refused")
    func refuses() {
        #expect(throws: WebDAVFault.self) { try PropertyQuery(.dav("propfind")) }
        #expect(throws: WebDAVFault.self) { try PropertyQuery(.dav("propfind", [.dav("prop"), .dav("allprop")])) }
        #expect(throws: WebDAVFault.self) { try PropertyQuery(.dav("prop")) }
        #expect(throws: WebDAVFault.self) { try PropertyQuery(XMLElement(XMLName("propfind", in: ""))) }
    }

    @Test("There is a bound on the bytes of names, in which each namespace counts once")
    func bytes() throws {
        func query(_ length: Int) throws -> PropertyQuery {
            let namespace = String(repeating: "n", count: 1_024)
            let names = (0..<16).map { number in
                let local = "a\(10 + number)" + String(repeating: "x", count: length - 3)
                return XMLElement(XMLName(local, in: namespace))
            }
            return try PropertyQuery(.dav("propfind", [.dav("prop", names)]))
        }
        #expect(PropertyQuery.nameBound == 16_384)
        #expect(try query(960) != .names)
        #expect(throws: WebDAVFault.self) { try query(961) }
    }

    @Test("There is a bound on names")
    func bound() throws {
        #expect(try PropertyQuery(.dav("propfind", [Self.names(PropertyQuery.bound)])) != .names)
        #expect(throws: WebDAVFault.self) {
            try PropertyQuery(.dav("propfind", [Self.names(PropertyQuery.bound + 1)]))
        }
    }
}
