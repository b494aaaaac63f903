// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Handshake errors")
struct HandshakeErrorTests {
    @Test("The description has the message, the beginning of the body and the hint in lines of their own")
    func description() {
        let error = HandshakeError(
            .refused,
            "the server answered 500 instead of 101",
            response: ResponseHead(status: .internalServerError, headers: [.server: "x"]),
            body: Array("oh\u{1B}[2J".utf8) + [UInt8](repeating: 0x61, count: 100),
            hint: "ask"
        )
        let lines = "\(error)".split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == "HandshakeError.refused: the server answered 500 instead of 101")
        #expect(lines[1].hasPrefix("  body: \"oh\\x1B[2Jaaa"))
        #expect(lines[1].hasSuffix("a…\""))
        #expect(lines[2] == "  hint: ask")
        #expect(error.status == .internalServerError)
        #expect(error.headers?[.server] == "x")
    }

    @Test("Without an answer there is no status")
    func noAnswer() {
        let error = HandshakeError(.connectionClosed, "gone")
        #expect(error.status == nil)
        #expect(error.headers == nil)
        #expect("\(error)" == "HandshakeError.connectionClosed: gone")
    }
}

@Suite("Hints")
struct HandshakeHintTests {
    @Test(
        "The status and the fields say what to try next",
        arguments: [
            (200, [], "not a WebSocket endpoint"), (302, [(.location, "https://b/")], "redirects to \"https://b/\""),
            (301, [], nil), (400, [], "doesn't understand"),
            (401, [(.wwwAuthenticate, "Basic realm=x")], "scheme Basic"),
            (401, [], "credentials"), (403, [], "Origin"), (404, [], "nothing at this path"),
            (405, [], "doesn't serve GET"),
            (407, [(.proxyAuthenticate, "Digest x")], "proxy asks for credentials, by the scheme Digest"),
            (426, [(.secWebSocketVersion, "8")], "speaks version \"8\""),
            (426, [(.upgrade, "h2c")], "upgrade to \"h2c\""),
            (429, [(.retryAfter, "5")], "Retry-After is \"5\""), (502, [], "proxy answered"), (503, [], "overloaded"),
            (418, [], nil),
        ] as [(Int, [(HTTPField.Name, String)], String?)]
    )
    func responses(status: Int, headers: [(HTTPField.Name, String)], expected: String?) {
        let hint = HandshakeHint.forResponse(
            ResponseHead(
                status: HTTPResponse.Status(code: status),
                headers: HTTPFields(headers.map { HTTPField(name: $0.0, value: $0.1) })
            )
        )
        #expect((hint == nil) == (expected == nil))
        if let expected { #expect(hint?.contains(expected) == true) }
    }

    @Test(
        "A server with TLS says so to a request without it",
        arguments: [
            "<center>The plain HTTP request was sent to HTTPS port</center>",
            "Client sent an HTTP request to an HTTPS server.\n",
            "Reason: You're speaking plain HTTP to an SSL-enabled server port.",
            String(decoding: PlainRequest.answer(isHead: false, now: UnixTime(seconds: 0)), as: UTF8.self),
        ]
    )
    func wrongScheme(body: String) {
        let head = ResponseHead(status: .badRequest)
        #expect(HandshakeHint.forResponse(head, body: Array(body.utf8)) == "the port speaks TLS: use wss")
    }

    @Test("Credentials that were sent were refused")
    func credentials() {
        var head = ResponseHead(status: .unauthorized)
        head.headers[.wwwAuthenticate] = "Basic realm=x"
        let hint = HandshakeHint.forResponse(head, to: .init([.authorization: "Basic x"]))
        #expect(hint == "the credentials were refused: the server asks for others, by the scheme Basic")
    }

    @Test("A refusal with 403 names the origin that was sent, or that none was")
    func origins() {
        let head = ResponseHead(status: .forbidden)
        let without = HandshakeHint.forResponse(head, to: .init([.authorization: "Basic x"]))
        #expect(without?.contains("no Origin was sent") == true)
        let with = HandshakeHint.forResponse(head, to: .init([.origin: "https://a.example"]))
        #expect(with?.contains("may not allow the Origin") == true)
    }

    @Test("What a field says is escaped in the hint")
    func escaping() {
        var head = ResponseHead(status: .found)
        head.headers[.location] = "x\u{9}y"
        #expect(HandshakeHint.forResponse(head) == "the server redirects to \"x\\x09y\"")
    }

    @Test(
        "The first byte tells other protocols apart",
        arguments: [(0x15, "TLS"), (0x00, "HTTP/2"), (0x53, "doesn't")] as [(UInt8, String)]
    )
    func firstByte(byte: UInt8, expected: String) {
        #expect(HandshakeHint.forFirstByte(byte)?.contains(expected) == true)
        #expect(HandshakeHint.forFirstByte(UInt8(ascii: "H")) == nil)
    }
}
