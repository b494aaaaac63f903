// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Names of XML")
struct XMLNameTests {
    @Test("Both parts tell names apart, byte by byte")
    func compares() {
        #expect(XMLName("a", in: "u") == XMLName("a", in: "u"))
        #expect(XMLName("a", in: "u") != XMLName("a", in: "v") && XMLName("a", in: "u") != XMLName("b", in: "u"))
        // The same to look at: one letter, and a letter with its accent.
        #expect(XMLName("\u{E4}", in: "") != XMLName("a\u{308}", in: ""))
        #expect(Set([XMLName("\u{E4}", in: ""), XMLName("a\u{308}", in: "")]).count == 2)
    }

    @Test("They print with their namespace")
    func prints() {
        #expect(XMLName("prop", in: "DAV:").description == "{DAV:}prop" && XMLName("a", in: "").description == "a")
    }
}
