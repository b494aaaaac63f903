// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("Heads written again")
struct RecordedHeadsTests {
    @Test("A request has its host first, and the length of the body that is there")
    func request() throws {
        var exchange = try Sample.exchange()
        exchange.requestBody = RecordedBytes(Array("n=1".utf8), of: 7)
        let text = String(decoding: RecordedHeads.request(exchange), as: UTF8.self)
        #expect(text.hasPrefix("POST /orders?x=1&y= HTTP/1.1\r\nHost: example.com\r\n"))
        #expect(text.hasSuffix("\r\nContent-Length: 3\r\n\r\nn=1"))
        #expect(text.split(separator: "Content-Length").count == 2)
    }

    @Test("A response has no coding but its length", arguments: [200, 201, 500])
    func response(status: Int) throws {
        var exchange = try Sample.exchange()
        exchange.status = status
        let text = String(decoding: RecordedHeads.response(exchange), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(status) Created\r\n"))
        #expect(text.hasSuffix("\r\nContent-Length: 11\r\n\r\n{\"order\":1}"))
        #expect(!text.contains("gzip") && !text.contains("chunked"))
    }

    @Test(
        "Responses that have no body have none",
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304), ("GET", 103)]
    )
    func bodyless(method: String, status: Int) throws {
        var exchange = try Sample.exchange()
        exchange.method = method
        exchange.status = status
        #expect(String(decoding: RecordedHeads.response(exchange), as: UTF8.self).hasSuffix("Path=/\r\n\r\n"))
    }

    @Test("A handshake that was recorded without its fields has them, and no extensions")
    func handshake() throws {
        var connection = RecordedConnection(id: 1, isClient: true, url: "wss://a/b", isSecure: true, began: 0)
        let bare = String(decoding: RecordedHeads.request(connection), as: UTF8.self)
        #expect(bare.hasPrefix("GET /b HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nHost: a\r\n"))
        #expect(bare.contains("Sec-WebSocket-Key: ") && bare.contains("Sec-WebSocket-Version: 13\r\n"))
        connection = try Sample.connection()
        let whole = RecordedHeads.request(connection) + RecordedHeads.response(connection)
        let text = String(decoding: whole, as: UTF8.self)
        #expect(!text.contains("permessage-deflate"))
        #expect(text.split(separator: "Upgrade: websocket").count == 3)
        #expect(text.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
    }

    @Test("No line is added by what is in a recording")
    func hostile() {
        var exchange = RecordedExchange(
            id: 1,
            began: 0,
            method: "GET / HTTP/1.1\r\nX: y",
            url: "http://a\r\nX: y/b\r\nX: y"
        )
        exchange.requestHeaders = [.userAgent: "a\r\nX: y"]
        exchange.status = 99_999
        exchange.reason = "OK\r\nX: y"
        let text = String(decoding: RecordedHeads.request(exchange) + RecordedHeads.response(exchange), as: UTF8.self)
        #expect(!text.contains("\nX: y"))
        #expect(text.hasPrefix("INVALID /b%0D%0AX:%20y HTTP/1.1\r\n"))
        #expect(text.contains("HTTP/1.1 500 OKX: y\r\n"))
    }
}

@Suite("A URL that was recorded")
struct RecordedURLTests {
    @Test(
        "It is taken apart",
        arguments: [
            ("ws://example.com/chat?room=1#x", "ws", "example.com", "/chat?room=1", 80),
            ("WSS://example.com", "wss", "example.com", "/", 443), ("http://a:8080?x", "http", "a:8080", "/?x", 8_080),
            ("https://ada:p@w@[::1]:81/", "https", "[::1]:81", "/", 81), ("https://[::1]/", "https", "[::1]", "/", 443),
            ("/only/path?q", "", "", "/only/path?q", 80), ("", "", "", "/", 80), ("*", "", "", "*", 80),
            ("http://a:99999/", "http", "a:99999", "/", 80), ("http://a:x/", "http", "a:x", "/", 80),
            ("http://a/b c\r\nX: y", "http", "a", "/b%20c%0D%0AX:%20y", 80), ("://", "", "", "/", 80),
        ]
    )
    func parts(url: String, scheme: String, authority: String, target: String, port: Int) {
        let parts = RecordedURL(url)
        #expect(parts.scheme == scheme)
        #expect(parts.authority == authority)
        #expect(parts.target == target)
        #expect(parts.port == port)
    }

    @Test(
        "https and wss go over TLS",
        arguments: [("https://a", true), ("wss://a", true), ("ws://a", false), ("a", false)]
    )
    func security(url: String, isSecure: Bool) {
        #expect(RecordedURL(url).isSecure == isSecure)
    }
}
