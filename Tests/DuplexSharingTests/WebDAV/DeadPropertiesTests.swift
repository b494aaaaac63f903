// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Properties as they are kept")
struct DeadPropertiesTests {
    @Test("They come back as they were; none take no place")
    func roundTrip() {
        let properties = [
            XMLElement(
                XMLName("a", in: "u:1"),
                prefix: "x",
                attributes: [XMLElement.Attribute(.language, "de", prefix: "xml")],
                children: [.text("one "), .element(XMLElement(XMLName("b", in: "u:2"), prefix: "x"))]
            ),
            XMLElement(XMLName("c", in: "")),
        ]
        #expect(DeadProperties.properties(in: DeadProperties.bytes(of: properties)) == properties)
        #expect(DeadProperties.bytes(of: []) == nil && DeadProperties.properties(in: nil) == [])
    }

    @Test("What others have put there is none", arguments: ["", "x", "<a/>", "<properties><a/></properties>"])
    func unreadable(text: String) {
        #expect(DeadProperties.properties(in: Array(text.utf8)) == [])
    }
}
