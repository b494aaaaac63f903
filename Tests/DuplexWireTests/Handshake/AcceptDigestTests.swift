// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Handshakes with the digest of the module itself")
struct AcceptDigestTests {
    @Test(
        "SHA-1 of texts on both sides of a block's end",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
            (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
            (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
            (String(repeating: "a", count: 1_000), "291e9a6c66994949b57ba5e650361e98fc36b1ba"),
        ]
    )
    func sha1(text: String, expected: String) {
        #expect(Base16.encode(AcceptDigest.sha1(Array(text.utf8))) == expected)
    }

    @Test("A client and a server agree with each other, and with the example of RFC 6455 section 1.3")
    func agrees() throws {
        let url = try WebSocketURL("ws://server.example.com/chat")
        var client = try ClientHandshake(url: url, subprotocols: ["chat"], key: Sample.nonce)
        var parser = RequestHeadParser()
        var position = 0
        let head = try #require(try parser.parse(client.requestBytes.span, from: &position))
        var options = ServerHandshakeOptions()
        options.subprotocols = ["chat"]
        guard case .accept(let acceptance) = ServerHandshake.evaluate(head, options: options) else {
            Issue.record("refused")
            return
        }
        #expect(acceptance.responseHead.headers[.secWebSocketAccept] == Sample.accept)
        position = 0
        let result = try client.receive(acceptance.responseBytes.span, from: &position)
        #expect(result?.subprotocol == "chat" && result?.deflate == nil)
        #expect(position == acceptance.responseBytes.count)
    }

    @Test("A refusal is a whole response that ends the connection")
    func refuses() throws {
        let head = try Sample.request(with: [(.origin, "https://evil.example")])
        guard case .refuse(let refusal) = ServerHandshake.evaluate(head) else {
            Issue.record("accepted")
            return
        }
        let text = String(decoding: refusal.responseBytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
        #expect(text.contains("Connection: close\r\n"))
        #expect(text.contains("Content-Length: \(refusal.message.utf8.count)\r\n"))
        #expect(text.hasSuffix("\r\n\r\n" + refusal.message))
    }

    @Test("A refusal that names what to upgrade to still says so")
    func upgrades() throws {
        let head = try Sample.request(without: [.secWebSocketVersion])
        guard case .refuse(let refusal) = ServerHandshake.evaluate(head) else {
            Issue.record("accepted")
            return
        }
        let text = String(decoding: refusal.responseBytes, as: UTF8.self)
        #expect(refusal.status.code == 426 && text.contains("Connection: close, Upgrade\r\n"))
    }
}
