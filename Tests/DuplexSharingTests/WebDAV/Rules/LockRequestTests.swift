// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

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
