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

@Suite("What a PROPPATCH asks for")
struct PropertyUpdateTests {
    private static func property(_ name: String, _ text: String = "") -> XMLElement {
        XMLElement(XMLName(name, in: "u:"), children: text.isEmpty ? [] : [.text(text)])
    }

    private static func set(_ properties: XMLElement...) -> XMLElement { .dav("set", [.dav("prop", properties)]) }
    private static func remove(_ properties: XMLElement...) -> XMLElement {
        .dav("remove", [.dav("prop", properties)])
    }

    @Test("The steps are in the order of the document, and are done in it")
    func order() throws {
        let update = try PropertyUpdate(
            .dav(
                "propertyupdate",
                [
                    Self.set(Self.property("a", "1"), Self.property("b", "1")), Self.remove(Self.property("a")),
                    .dav("unknown"), Self.set(Self.property("b", "2"), Self.property("c")),
                    Self.remove(Self.property("none")),
                ]
            )
        )
        #expect(update.steps.map(\.name.local) == ["a", "b", "a", "b", "c", "none"])
        let before = [Self.property("z", "0"), Self.property("c", "0")]
        #expect(update.applied(to: before) == [Self.property("z", "0"), Self.property("b", "2"), Self.property("c")])
    }

    @Test("A property has the language of what is around it, unless it has one")
    func languages() throws {
        let german = XMLElement.Attribute(.language, "de", prefix: "xml")
        let english = XMLElement.Attribute(.language, "en", prefix: "xml")
        var root = XMLElement.dav("propertyupdate", [Self.set(Self.property("a"))])
        root.attributes = [german]
        #expect(try PropertyUpdate(root).applied(to: []).first?.attributes == [german])
        var own = Self.property("a")
        own.attributes = [english]
        root.children = [.element(Self.set(own))]
        #expect(try PropertyUpdate(root).applied(to: []).first?.attributes == [english])
    }

    @Test("Nothing to do, too much, and another document are refused")
    func refuses() {
        #expect(throws: WebDAVFault.self) { try PropertyUpdate(.dav("propertyupdate")) }
        #expect(throws: WebDAVFault.self) { try PropertyUpdate(.dav("propertyupdate", [.dav("set")])) }
        #expect(throws: WebDAVFault.self) { try PropertyUpdate(.dav("propfind", [Self.set(Self.property("a"))])) }
        let many = (0...PropertyQuery.bound).map { Self.property("p\($0)") }
        #expect(throws: WebDAVFault.self) {
            try PropertyUpdate(.dav("propertyupdate", [.dav("set", [.dav("prop", many)])]))
        }
    }
}
