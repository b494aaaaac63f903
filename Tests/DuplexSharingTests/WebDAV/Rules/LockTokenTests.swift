// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

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
