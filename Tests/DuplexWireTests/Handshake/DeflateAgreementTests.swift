// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Agreements on permessage-deflate (RFC 7692 section 7.1)")
struct DeflateAgreementTests {
    @Test("Without parameters windows are whole and context is taken over")
    func plain() throws {
        let agreement = try #require(DeflateAgreement(extensionOffer("permessage-deflate")))
        #expect(agreement == DeflateAgreement())
        #expect(agreement.takesOver(.client) && agreement.takesOver(.server))
        #expect(agreement.windowBits(.client) == 15 && agreement.windowBits(.server) == 15)
        #expect("\(agreement)" == "permessage-deflate")
    }

    @Test("Each parameter is for its side")
    func sides() throws {
        let text = "permessage-deflate; server_no_context_takeover; server_max_window_bits=9; client_max_window_bits=10"
        let agreement = try #require(DeflateAgreement(extensionOffer(text)))
        #expect(agreement.takesOver(.client) && !agreement.takesOver(.server))
        #expect(agreement.windowBits(.client) == 10 && agreement.windowBits(.server) == 9)
        #expect("\(agreement)" == text)
    }

    @Test(
        "In an answer both windows have a value, and nothing else is allowed",
        arguments: [
            "permessage-deflate; client_max_window_bits", "permessage-deflate; server_max_window_bits",
            "permessage-deflate; client_max_window_bits=16", "permessage-deflate; unknown", "other",
            "permessage-deflate; client_no_context_takeover=1",
        ]
    )
    func refuses(text: String) throws {
        #expect(DeflateAgreement(try extensionOffer(text)) == nil)
    }
}
