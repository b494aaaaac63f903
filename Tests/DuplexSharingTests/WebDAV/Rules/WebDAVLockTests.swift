// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Locks")
struct WebDAVLockTests {
    @Test("What clients are told of one")
    func element() {
        let lock = WebDAVLock(
            token: "urn:uuid:1",
            root: ResourcePath("a"),
            isDeep: true,
            scope: .shared,
            owner: .dav("owner", text: "me"),
            user: "secret",
            expiry: UnixTime(seconds: 160)
        )
        var writer = XMLWriter(within: [("D", "DAV:")])
        writer.add(lock.element(href: "/dav/a/", now: UnixTime(seconds: 100)))
        let expected = """
            <D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:shared/></D:lockscope>\
            <D:depth>infinity</D:depth><D:owner>me</D:owner><D:timeout>Second-60</D:timeout>\
            <D:locktoken><D:href>urn:uuid:1</D:href></D:locktoken>\
            <D:lockroot><D:href>/dav/a/</D:href></D:lockroot></D:activelock>
            """
        #expect(writer.text == expected)
    }

    @Test("Both scopes can be had")
    func supported() {
        let scopes = WebDAVLock.supported.elements.compactMap {
            $0.first(.dav("lockscope"))?.elements.first?.name.local
        }
        #expect(scopes == ["exclusive", "shared"])
    }
}

@Suite("Lock tokens")
struct LockTokenTests {
    @Test("One is a UUID of random bytes")
    func makes() {
        #expect(
            LockToken.make(of: [UInt8](repeating: 0xFF, count: 16)) == "urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffffff"
        )
        #expect(LockToken.make(of: Array(0..<16)) == "urn:uuid:00010203-0405-4607-8809-0a0b0c0d0e0f")
    }

    @Test("The field has one between brackets")
    func reads() throws {
        #expect(try LockToken.read([.lockToken: " <urn:uuid:1> "]) == "urn:uuid:1")
    }

    @Test("All else is refused", arguments: ["", "urn:uuid:1", "<urn:uuid:1", "<a> <b>", "<>", "<a b>"])
    func refuses(value: String) {
        #expect(throws: WebDAVFault.self) { try LockToken.read([.lockToken: value]) }
        #expect(throws: WebDAVFault.self) { try LockToken.read([:]) }
    }
}

@Suite("What a LOCK asks for")
struct LockRequestTests {
    private static func info(_ scopes: [String], type: String = "write", _ others: XMLElement...) -> XMLElement {
        .dav(
            "lockinfo",
            [.dav("lockscope", scopes.map { .dav($0) }), .dav("locktype", [.dav(type)])] + others
        )
    }

    @Test("Scope and owner")
    func reads() throws {
        let owner = XMLElement.dav("owner", [.dav("href", text: "mailto:a@example.org")])
        let request = try LockRequest(Self.info(["exclusive"], owner))
        #expect(request.scope == .exclusive && request.owner == owner)
        #expect(try LockRequest(Self.info(["shared"])).scope == .shared)
        #expect(try LockRequest(Self.info(["shared"])).owner == nil)
    }

    @Test("What is no lock is refused")
    func refuses() {
        for root in [
            Self.info([]), Self.info(["exclusive", "shared"]), Self.info(["exclusive"], type: "read"),
            .dav("lockinfo"), .dav("owner"),
        ] {
            #expect(throws: WebDAVFault.self) { try LockRequest(root) }
        }
    }
}

@Suite("The locks that clients are told of")
struct LockDiscoveryTests {
    private static func lock(_ token: String, user: String, owner: Int = 1_000) -> WebDAVLock {
        WebDAVLock(
            token: token,
            root: .top,
            isDeep: true,
            scope: .shared,
            owner: .dav("owner", text: String(repeating: "o", count: owner)),
            user: user,
            expiry: UnixTime(seconds: 60)
        )
    }

    private static func tokens(_ locks: [WebDAVLock], _ user: String?, href: String = "/") -> [String] {
        LockDiscovery.elements(of: locks, for: user, now: UnixTime(seconds: 0)) { _ in href }
            .compactMap { $0.first(.dav("locktoken"))?.text(of: "href") }
    }

    @Test("They fit in a number of bytes, however many there are, those of the user who asks first")
    func bound() {
        let locks = (0..<300).map { Self.lock("\($0)", user: $0 == 299 ? "me" : "you") }
        let told = LockDiscovery.elements(of: locks, for: "me", now: UnixTime(seconds: 0)) { _ in "/" }
        #expect(told.map(\.written.utf8.count).reduce(0, +) <= LockDiscovery.bound)
        #expect(Self.tokens(locks, "me") == ["299", "0", "1", "2", "3", "4"])
        #expect(Self.tokens(locks, nil).first == "0")
    }

    @Test("One is told of, however long it is")
    func one() {
        let locks = [Self.lock("1", user: "me", owner: 10_000), Self.lock("2", user: "me")]
        #expect(Self.tokens(locks, "me") == ["1"])
        #expect(Self.tokens([], "me") == [])
    }
}

extension XMLElement {
    fileprivate func text(of name: String) -> String? { first(.dav(name))?.text }
}
