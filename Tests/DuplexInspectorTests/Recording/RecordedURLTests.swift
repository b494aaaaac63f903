// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

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
