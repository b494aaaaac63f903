// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Sec-WebSocket-Extensions")
struct ExtensionHeaderTests {
    @Test(
        "A field is read into extensions with their parameters",
        arguments: [
            ("foo", "foo"), ("foo, bar; baz=2", "foo, bar; baz=2"), ("deflate-stream", "deflate-stream"),
            ("mux; max-channels=4; flow-control, deflate-stream", "mux; max-channels=4; flow-control, deflate-stream"),
            ("private-extension", "private-extension"), (" a ;\tb = c , d ", "a; b=c, d"), ("a; b=\"c\"", "a; b=c"),
            ("a; b=\"\\c\\d\"", "a; b=cd"), (", a,, b ,", "a, b"), ("a; b; b", "a; b; b"),
        ]
    )
    func reading(value: String, expected: String) throws {
        let offers = try #require(ExtensionHeader.parse(value))
        #expect(ExtensionHeader.serialize(offers) == expected)
        #expect(ExtensionHeader.parse(expected) == offers)
    }

    @Test(
        "A malformed field is refused",
        arguments: [
            "", " ", ",", ", ,", ";", "a;", "a; ", "a;;b", "a; b=", "a; =b", "a b", "a; b c", "a; b=c d", "a=b",
            "a; b=\"",
            "a; b=\"c", "a; b=\"c\\", "a; b=\"\"", "a; b=\"c d\"", "a; b=\"c,d\"", "a; b=\"c\"d", "a; b=\"\\\"\"", "é",
            "a; b=é", "a\u{0}", "a; b='c d'", "a/b", "\"a\"",
        ]
    )
    func refusing(value: String) {
        #expect(ExtensionHeader.parse(value) == nil)
    }

    @Test("Several fields are one list, but no string reaches from one into the next")
    func severalFields() {
        #expect(ExtensionHeader.parse(headers("a; b", "c"))?.map(\.name) == ["a", "c"])
        #expect(ExtensionHeader.parse(HTTPFields()) == [])
        #expect(ExtensionHeader.parse(headers("a", "")) == nil)
        #expect(ExtensionHeader.parse(headers("a; b=\"x", "y\"")) == nil)
    }

    @Test("Extensions and parameters are bounded in number")
    func bounds() {
        func list(_ count: Int, _ separator: String) -> String {
            [String](repeating: "a", count: count).joined(separator: separator)
        }
        #expect(ExtensionHeader.parse(list(32, ","))?.count == 32)
        #expect(ExtensionHeader.parse(list(33, ",")) == nil)
        #expect(ExtensionHeader.parse(headers(list(16, ","), list(17, ","))) == nil)
        #expect(ExtensionHeader.parse(list(33, ";"))?.first?.parameters.count == 32)
        #expect(ExtensionHeader.parse(list(34, ";")) == nil)
    }

    private func headers(_ values: String...) -> HTTPFields {
        HTTPFields(values.map { HTTPField(name: .secWebSocketExtensions, value: $0) })
    }
}

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

@Suite("Sec-WebSocket-Protocol")
struct SubprotocolHeaderTests {
    @Test(
        "The fields are one list in the client's order",
        arguments: [
            ([], []), (["chat"], ["chat"]), (["chat, superchat"], ["chat", "superchat"]), (["b", "a"], ["b", "a"]),
            (["chat,Chat"], ["chat", "Chat"]), ([" a ,, b"], ["a", "b"]),
        ] as [([String], [String])]
    )
    func reading(values: [String], expected: [String]) {
        #expect(SubprotocolHeader.parse(headers(values)) == expected)
    }

    @Test(
        "A list with what isn't a token, or with a name twice, is refused",
        arguments: [[""], [","], ["a b"], ["a;b"], ["a, a"], ["a", "a"], ["\"a\""], ["a=b"], ["é"], ["a/b"]]
    )
    func refusing(values: [String]) {
        #expect(SubprotocolHeader.parse(headers(values)) == nil)
    }

    @Test("Subprotocols are bounded in number")
    func bound() {
        let names = (0..<101).map { "p\($0)" }
        #expect(SubprotocolHeader.isValid(Array(names.prefix(100))))
        #expect(!SubprotocolHeader.isValid(names))
        #expect(SubprotocolHeader.parse(headers([names.joined(separator: ",")])) == nil)
    }

    private func headers(_ values: [String]) -> HTTPFields {
        HTTPFields(values.map { HTTPField(name: .secWebSocketProtocol, value: $0) })
    }
}

@Suite("The key of a handshake and its answer")
struct AcceptKeyTests {
    @Test("The sample of the RFC is answered as the RFC has it")
    func sample() {
        #expect(AcceptKey.key(from: Sample.nonce) == Sample.key)
        #expect(AcceptKey.acceptValue(for: Sample.key, digest: Sample.digest) == Sample.accept)
        #expect(AcceptKey.acceptValue(for: "other", digest: Sample.digest) != Sample.accept)
    }

    // RFC 6455 section 4.1 prints a key with bits after its last byte as an example.
    @Test(
        "A key is 16 bytes in base64, also without padding or with bits after the last byte",
        arguments: [
            Sample.key, "AAAAAAAAAAAAAAAAAAAAAA==", "/////////////////////w==", "AQIDBAUGBwgJCgsMDQ4PEC==",
            "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25jZQ",
        ]
    )
    func keys(key: String) {
        #expect(AcceptKey.isKey(key))
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "short", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ==\n", "dGhlIHNhbXBsZSBub25jZTE=",
            "dGhlIHNhbXBsZSBub25jZTE", "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZTEy",
            "dGhlIHNhbXBsZSBub25jZQ==dGhlIHNhbXBsZSBub25jZQ==", "************************",
        ]
    )
    func noKeys(key: String) {
        #expect(!AcceptKey.isKey(key))
    }
}
