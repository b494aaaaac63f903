// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Negotiating permessage-deflate (RFC 7692 section 7.1)")
struct DeflateNegotiationTests {
    /// What a server answers to a field, as text.
    private static func answer(
        _ field: String,
        _ change: (inout DeflateNegotiation) -> Void = { _ in }
    ) throws -> String? {
        var negotiation = DeflateNegotiation()
        change(&negotiation)
        let offers = try #require(ExtensionHeader.parse(field))
        return negotiation.accept(offers).map { "\($0.answer)" }
    }

    private static func offers(_ change: (inout DeflateNegotiation) -> Void) -> String {
        var negotiation = DeflateNegotiation()
        change(&negotiation)
        return ExtensionHeader.serialize(negotiation.offers.map(\.extensionOffer))
    }

    @Test("A client offers what it prefers, and behind it what any server can accept")
    func offers() {
        let usual = Self.offers { _ in }
        #expect(
            usual == "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12, "
                + "permessage-deflate; client_max_window_bits"
        )
        let plain = Self.offers { $0.namesSettings = false }
        #expect(plain == "permessage-deflate; client_max_window_bits")
        let whole = Self.offers {
            $0.serverWindowBits = 15
            $0.clientWindowBits = 15
        }
        #expect(whole == "permessage-deflate; client_max_window_bits")
        let forgetful = Self.offers {
            $0.serverContextTakeover = false
            $0.clientContextTakeover = false
            $0.serverWindowBits = 15
            $0.clientWindowBits = 2
        }
        #expect(
            forgetful == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "client_max_window_bits=8, permessage-deflate; client_max_window_bits"
        )
    }

    @Test(
        "A server bounds windows by what it was set to, and by what the client asks for",
        arguments: [
            ("permessage-deflate", "permessage-deflate; server_max_window_bits=12"),
            (
                "permessage-deflate; client_max_window_bits",
                "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12"
            ),
            (
                "permessage-deflate; client_max_window_bits=9; server_max_window_bits=10",
                "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9"
            ),
            (
                "permessage-deflate; client_max_window_bits=15; server_max_window_bits=15",
                "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12"
            ),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12"
            ),
        ]
    )
    func answers(offer: String, answer: String) throws {
        let seen = try Self.answer(offer)
        #expect(seen == answer)
    }

    @Test("It takes the first offer that it can, past others and broken ones, and past windows of 8")
    func firstThatFits() throws {
        let answer = try Self.answer(
            "x-other, permessage-deflate; unknown, permessage-deflate; server_max_window_bits=8, "
                + "permessage-deflate; server_max_window_bits=9, permessage-deflate"
        )
        #expect(answer == "permessage-deflate; server_max_window_bits=9")
    }

    @Test(
        "What can't be accepted is declined",
        arguments: [
            "x-other", "permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits",
        ]
    )
    func declines(offer: String) throws {
        let answer = try Self.answer(offer)
        #expect(answer == nil)
    }

    @Test("A server that was set to forget says so; one that was set to 8 deflates with 9 and has the client use 8")
    func serverSettings() throws {
        let forgetful = try Self.answer("permessage-deflate") {
            $0.serverContextTakeover = false
            $0.clientContextTakeover = false
            $0.serverWindowBits = 15
        }
        #expect(forgetful == "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
        let small = try Self.answer("permessage-deflate; client_max_window_bits") {
            $0.serverWindowBits = 8
            $0.clientWindowBits = 8
        }
        #expect(small == "permessage-deflate; server_max_window_bits=9; client_max_window_bits=8")
    }

    private static func agreement(_ answer: String, to offers: String) throws -> DeflateAgreement? {
        let offers = try #require(ExtensionHeader.parse(offers)).compactMap { DeflateOffer($0) }
        return DeflateNegotiation.agreement(try extensionOffer(answer), to: offers)
    }

    @Test(
        "A client takes answers to what it has offered, and what a server may say without being asked",
        arguments: [
            ("", ""), ("; server_no_context_takeover", ""), ("; client_no_context_takeover", ""),
            ("; server_max_window_bits=10", ""), ("; server_no_context_takeover", "; server_no_context_takeover"),
            ("", "; client_no_context_takeover"), ("; server_max_window_bits=9", "; server_max_window_bits=10"),
            ("; server_max_window_bits=10", "; server_max_window_bits=10"),
            ("; client_max_window_bits=9", "; client_max_window_bits"), ("", "; client_max_window_bits"),
            ("; client_max_window_bits=15", "; client_max_window_bits=10"),
            ("", "; server_max_window_bits=10, permessage-deflate"),
        ]
    )
    func takes(answer: String, offer: String) throws {
        let agreement = try Self.agreement("permessage-deflate" + answer, to: "permessage-deflate" + offer)
        #expect(agreement != nil)
    }

    @Test(
        "It refuses answers to what it hasn't offered",
        arguments: [
            ("; client_max_window_bits=9", ""), ("", "; server_no_context_takeover"),
            ("", "; server_max_window_bits=10"),
            ("; server_max_window_bits=11", "; server_max_window_bits=10"),
            ("; client_max_window_bits", "; client_max_window_bits"), ("; unknown", ""),
            ("; server_max_window_bits=10; server_max_window_bits=10", "; server_max_window_bits=10"),
        ]
    )
    func refuses(answer: String, offer: String) throws {
        let agreement = try Self.agreement("permessage-deflate" + answer, to: "permessage-deflate" + offer)
        #expect(agreement == nil)
    }

    @Test("Every offer of ours that a server of ours answers is agreed on by both, as the same")
    func bothSides() throws {
        var runs = 0
        for bits in 0..<256 {
            var client = DeflateNegotiation()
            client.serverContextTakeover = bits & 1 != 0
            client.clientContextTakeover = bits & 2 != 0
            client.serverWindowBits = 8 + bits >> 5
            client.clientWindowBits = 15 - bits >> 5
            var server = DeflateNegotiation()
            server.serverContextTakeover = bits & 4 != 0
            server.clientContextTakeover = bits & 8 != 0
            server.serverWindowBits = bits & 16 != 0 ? 15 : 8
            server.clientWindowBits = bits & 16 != 0 ? 8 : 15
            let chosen = try #require(server.accept(client.offers.map(\.extensionOffer)))
            let agreement = DeflateNegotiation.agreement(chosen.answer, to: client.offers)
            #expect(agreement == chosen.agreement)
            #expect(chosen.agreement.serverMaxWindowBits >= 9)
            runs += 1
        }
        #expect(runs == 256)
    }

    // MARK: Within the handshake

    private static func handshake(_ answer: String?) throws -> DeflateAgreement? {
        var handshake = try ClientHandshake(
            url: WebSocketURL("ws://server.example.com/chat"),
            extensions: DeflateNegotiation().offers.map(\.extensionOffer),
            key: Sample.nonce,
            digest: Sample.digest
        )
        var response =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Sample.accept)\r\n"
        if let answer { response += "Sec-WebSocket-Extensions: \(answer)\r\n" }
        let bytes = Array((response + "\r\n").utf8)
        var position = 0
        return try handshake.receive(bytes.span, from: &position)?.deflate
    }

    @Test("A client's handshake tells what was agreed on, and fails by what wasn't offered")
    func clientHandshake() throws {
        #expect(try Self.handshake(nil) == nil)
        let agreement = try Self.handshake("permessage-deflate; server_max_window_bits=10")
        #expect(agreement?.serverMaxWindowBits == 10)
        for answer in ["permessage-deflate; x", "permessage-deflate; client_max_window_bits", "other"] {
            let error = #expect(throws: HandshakeError.self) { try Self.handshake(answer) }
            #expect(error?.code == .unofferedExtension)
        }
        let doubled = #expect(throws: HandshakeError.self) {
            try Self.handshake("permessage-deflate, permessage-deflate")
        }
        #expect(doubled?.code == .repeatedField)
    }

    @Test("A server's handshake answers by its options, and not by default")
    func serverHandshake() throws {
        let request = try Sample.request(with: [(.secWebSocketExtensions, "permessage-deflate; client_max_window_bits")]
        )
        var options = ServerHandshakeOptions()
        guard case .accept(let declined) = ServerHandshake.evaluate(request, options: options, digest: Sample.digest)
        else { throw HandshakeError(.refused, "refused") }
        #expect(declined.deflate == nil && declined.extensions.isEmpty)
        options.deflate = DeflateNegotiation()
        guard case .accept(let accepted) = ServerHandshake.evaluate(request, options: options, digest: Sample.digest)
        else { throw HandshakeError(.refused, "refused") }
        #expect(accepted.deflate?.clientMaxWindowBits == 12)
        #expect(
            accepted.responseHead.headers[.secWebSocketExtensions]
                == "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12"
        )
    }
}

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
