// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Looking fields up")
struct FieldLookupTests {
    @Test("A token is found in any of the fields of a name, in any case")
    func tokens() {
        var fields: HTTPFields = [.connection: "keep-alive"]
        fields.append(HTTPField(name: .connection, value: "x , UPGRADE"))
        #expect(fields.hasToken("upgrade", in: .connection))
        #expect(fields.hasToken("keep-alive", in: .connection))
        #expect(!fields.hasToken("keep", in: .connection))
        #expect(!fields.hasToken("upgrade", in: .upgrade))
    }

    @Test("All Host fields are found, whatever the case of their name")
    func hosts() throws {
        var fields = host("a", "b")
        fields.append(HTTPField(name: try #require(HTTPField.Name("hOST")), value: "c"))
        #expect(fields.hosts == ["a", "b", "c"])
        #expect(HTTPFields().hosts.isEmpty)
    }
}
