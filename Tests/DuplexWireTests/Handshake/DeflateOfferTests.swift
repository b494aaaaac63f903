// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

/// The first extension of a field.
func extensionOffer(_ text: String) throws -> ExtensionOffer {
    try #require(ExtensionHeader.parse(text)?.first)
}

@Suite("Offers of permessage-deflate (RFC 7692 section 7.1)")
struct DeflateOfferTests {
    @Test(
        "What may be offered is read, and written as it was",
        arguments: [
            "permessage-deflate",
            "permessage-deflate; server_no_context_takeover",
            "permessage-deflate; client_no_context_takeover",
            "permessage-deflate; server_max_window_bits=8",
            "permessage-deflate; server_max_window_bits=15",
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate; client_max_window_bits=10",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9; "
                + "client_max_window_bits=8",
        ]
    )
    func readsAndWrites(text: String) throws {
        let offer = try #require(DeflateOffer(extensionOffer(text)))
        #expect("\(offer.extensionOffer)" == text)
    }

    @Test("A value in quotation marks is the value")
    func quoted() throws {
        let offer = try #require(DeflateOffer(extensionOffer("permessage-deflate; server_max_window_bits=\"10\"")))
        #expect(offer.serverMaxWindowBits == 10)
    }

    @Test(
        "What must be declined is no offer: unknown, doubled, with a value where none belongs, or a wrong one",
        arguments: [
            "x-webkit-deflate-frame", "permessage-deflate; unknown", "permessage-deflate; unknown=1",
            "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; client_no_context_takeover=true",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=08",
            "permessage-deflate; server_max_window_bits=+9", "permessage-deflate; server_max_window_bits=010",
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
            "permessage-deflate; client_max_window_bits=7", "permessage-deflate; client_max_window_bits=16",
            "permessage-deflate; client_max_window_bits=012", "permessage-deflate; client_max_window_bits=x",
            "permessage-deflate; client_max_window_bits; client_max_window_bits",
            "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
        ]
    )
    func declines(text: String) throws {
        #expect(DeflateOffer(try extensionOffer(text)) == nil)
    }
}
