// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSharing

@Suite("Faults of XML")
struct XMLErrorTests {
    @Test("They say where and what")
    func describes() {
        let error = #expect(throws: XMLError.self) { try XMLReader.element(of: Array("<a>\n</b>".utf8)) }
        #expect(error?.code == .malformed && error?.line == 2)
        #expect(error?.description == "line 2: This is no XML: mismatched tag.")
    }
}
