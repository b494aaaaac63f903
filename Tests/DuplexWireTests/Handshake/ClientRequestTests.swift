// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("The client's request")
struct ClientRequestTests {
    @Test("The request has the fields of the handshake, then the caller's")
    func request() throws {
        let fields: HTTPFields = [.origin: "http://example.com", .cookie: "a=1; b=2"]
        let bytes = try request("ws://user:pw@Server.example.com:8080/chat?x", ["chat", "superchat"], fields)
        let expected = """
            GET /chat?x HTTP/1.1
            Host: server.example.com:8080
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
            Sec-WebSocket-Version: 13
            Sec-WebSocket-Protocol: chat, superchat
            Origin: http://example.com
            Cookie: a=1; b=2


            """
        #expect(bytes == wire(expected))
    }

    @Test("Extensions are offered as they are given")
    func extensions() throws {
        let offer = try #require(ExtensionOffer("permessage-deflate"))
        let handshake = try ClientHandshake(
            url: WebSocketURL("ws://a"),
            extensions: [offer],
            key: Sample.nonce,
            digest: Sample.digest
        )
        let text = String(decoding: handshake.requestBytes, as: UTF8.self)
        #expect(text.contains("\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"))
    }

    @Test(
        "A server accepts the request, whatever the URL",
        arguments: ["ws://a", "wss://[::1]:8443/x?y=z", "ws://a?b"]
    )
    func accepted(url: String) throws {
        let bytes = try request(url, ["chat"], [:])
        var parser = RequestHeadParser()
        var position = 0
        let head = try #require(try parser.parse(bytes.span, from: &position))
        #expect(position == bytes.count)
        guard case .accept = ServerHandshake.evaluate(head, digest: Sample.digest) else {
            Issue.record("the server refused \(url)")
            return
        }
    }

    @Test("The caller's Host takes the place of the URL's")
    func hostField() throws {
        let text = String(decoding: try request("ws://10.0.0.1", [], host("example.com")), as: UTF8.self)
        #expect(text.hasPrefix("GET / HTTP/1.1\r\nHost: example.com\r\nUpgrade"))
        #expect(text.ranges(of: "Host:").count == 1)
    }

    @Test("A malformed or repeated Host of the caller's is refused", arguments: [["a", "b"], [""], ["a b"], ["a/b"]])
    func badHost(hosts: [String]) {
        var fields = HTTPFields()
        for value in hosts { fields.append(contentsOf: host(value)) }
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", [], fields) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "The handshake's own fields can't be set",
        arguments: [
            HTTPField.Name.upgrade, .connection, .secWebSocketKey, .secWebSocketVersion, .secWebSocketAccept,
            .secWebSocketProtocol, .secWebSocketExtensions, .contentLength, .transferEncoding,
        ]
    )
    func reserved(name: HTTPField.Name) {
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", [], [name: "x"]) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(name.rawName) == true)
    }

    @Test(
        "A field that may be there once isn't sent twice",
        arguments: [HTTPField.Name.authorization, .origin, .proxyAuthorization, .userAgent]
    )
    func repeated(name: HTTPField.Name) throws {
        var fields: HTTPFields = [name: "a"]
        #expect(String(decoding: try request("ws://a", [], fields), as: UTF8.self).ranges(of: "\(name): a").count == 1)
        fields.append(HTTPField(name: name, value: "b"))
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", [], fields) }
        #expect(error?.code == .invalidRequest && error?.message.contains(name.rawName) == true)
    }

    @Test(
        "Subprotocols that aren't different tokens are refused",
        arguments: [["a", "a"], [""], ["a b"], ["a,b"], ["a\r\nX: y"], ["é"]]
    )
    func subprotocols(names: [String]) {
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", names, [:]) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A key of another length than 16 bytes is refused", arguments: [0, 15, 17])
    func key(count: Int) {
        let error = #expect(throws: HandshakeError.self) {
            try ClientHandshake(
                url: WebSocketURL("ws://a"),
                key: [UInt8](repeating: 1, count: count),
                digest: Sample.digest
            )
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("No value of the caller's begins a line of its own", arguments: ["a\r\nX: y", "a\nX: y", "a\rX: y"])
    func injection(value: String) throws {
        var fields: HTTPFields = [.authorization: value, .cookie: value]
        fields.append(HTTPField(name: .accept, lenientValue: Array(value.utf8)))
        let bytes = try request("ws://a", [], fields)
        var parser = RequestHeadParser()
        var position = 0
        let head = try #require(try parser.parse(bytes.span, from: &position))
        #expect(position == bytes.count)
        #expect(head.fields.count == 8)
        #expect(!head.fields.contains { $0.name.canonicalName == "x" })
    }

    private func request(_ url: String, _ subprotocols: [String], _ fields: HTTPFields) throws -> [UInt8] {
        try ClientHandshake(
            url: WebSocketURL(url),
            subprotocols: subprotocols,
            fields: fields,
            key: Sample.nonce,
            digest: Sample.digest
        ).requestBytes
    }
}
