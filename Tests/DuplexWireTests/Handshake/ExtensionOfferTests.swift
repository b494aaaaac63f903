// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Extension offers")
struct ExtensionOfferTests {
    @Test("Names and values are tokens", arguments: ["", "a b", "a;b", "a,b", "a\r\nX: y", "é", "\"a\""])
    func tokens(text: String) {
        #expect(ExtensionOffer(text) == nil)
        #expect(ExtensionOffer.Parameter(text) == nil)
        #expect(ExtensionOffer.Parameter("a", text) == nil)
    }

    @Test("An offer is written as it stands in a field")
    func description() throws {
        let parameters = [
            try #require(ExtensionOffer.Parameter("client_max_window_bits")),
            try #require(ExtensionOffer.Parameter("server_max_window_bits", "10")),
        ]
        let offer = try #require(ExtensionOffer("permessage-deflate", parameters: parameters))
        #expect("\(offer)" == "permessage-deflate; client_max_window_bits; server_max_window_bits=10")
    }
}
