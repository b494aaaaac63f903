// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Looking fields up")
struct FieldLookupTests {
    @Test("A token is found in any of the fields of a name, in any case")
    func tokens() {
        var headers: HTTPFields = [.connection: "keep-alive"]
        headers.append(HTTPField(name: .connection, value: "x , UPGRADE"))
        #expect(headers.hasToken("upgrade", in: .connection))
        #expect(headers.hasToken("keep-alive", in: .connection))
        #expect(!headers.hasToken("keep", in: .connection))
        #expect(!headers.hasToken("upgrade", in: .upgrade))
    }

    @Test("All Host fields are found, whatever the case of their name")
    func hosts() throws {
        var headers = host("a", "b")
        headers.append(HTTPField(name: try #require(HTTPField.Name("hOST")), value: "c"))
        #expect(headers.hosts == ["a", "b", "c"])
        #expect(HTTPFields().hosts.isEmpty)
    }
}
