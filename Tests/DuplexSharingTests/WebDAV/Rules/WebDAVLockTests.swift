// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
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
