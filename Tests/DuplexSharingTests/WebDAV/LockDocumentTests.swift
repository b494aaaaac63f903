// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("The file of locks")
struct LockDocumentTests {
    private static func lock(_ token: String, _ owner: XMLElement?, user: String?) -> WebDAVLock {
        WebDAVLock(
            token: token,
            root: ResourcePath("a \"<b>\"/ä"),
            isDeep: owner != nil,
            scope: owner == nil ? .shared : .exclusive,
            owner: owner,
            user: user,
            expiry: UnixTime(seconds: 5)
        )
    }

    @Test("Locks come back as they were")
    func roundTrip() {
        let owner = XMLElement(
            .dav("owner"),
            prefix: "D",
            children: [.text("a & "), .element(.dav("href", text: "b"))]
        )
        let locks = [Self.lock("urn:uuid:1", owner, user: "me"), Self.lock("urn:uuid:2", nil, user: nil)]
        #expect(LockDocument.locks(in: LockDocument.bytes(of: locks)) == locks)
        #expect(LockDocument.locks(in: LockDocument.bytes(of: [])) == [])
    }

    @Test("Of what can't be read there are none, and the others are", arguments: ["", "<a/>", "<locks"])
    func unreadable(text: String) {
        #expect(LockDocument.locks(in: Array(text.utf8)) == [])
        var bytes = String(decoding: LockDocument.bytes(of: [Self.lock("urn:uuid:1", nil, user: nil)]), as: UTF8.self)
        bytes = bytes.replacing("</l:locks>", with: "<l:lock token='x'/><other/></l:locks>")
        #expect(LockDocument.locks(in: Array(bytes.utf8)).map(\.token) == ["urn:uuid:1"])
    }
}
