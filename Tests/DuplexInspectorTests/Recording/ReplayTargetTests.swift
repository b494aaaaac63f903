// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("A server to replay against")
struct ReplayTargetTests {
    @Test(
        "It is a scheme, a host and a port",
        arguments: [
            ("http://localhost:8080", "localhost:8080", "localhost:8080"), ("wss://example.com/", "example.com", "tls"),
            ("ws://[::1]:81", "[::1]:81", "[::1]:81"), (" https://a", "a", "tls"),
        ]
    )
    func reads(url: String, authority: String, endpoint: String) throws {
        let target = try #require(ReplayTarget(url))
        #expect(target.authority == authority)
        #expect("\(target.endpoint)".contains(endpoint))
    }

    @Test(
        "What has a path, or isn't HTTP, is none",
        arguments: [
            "", "localhost", "http://a/b", "http://a/?x", "ftp://a", "http://", "file:///etc/passwd", "http://a b",
        ]
    )
    func refuses(url: String) {
        #expect(ReplayTarget(url) == nil)
    }

    @Test("WebSockets are there as well", arguments: [("http://a:1", "ws://a:1/x?y"), ("https://a", "wss://a/x?y")])
    func webSockets(url: String, expected: String) throws {
        #expect(try #require(ReplayTarget(url)).webSocketURL("/x?y") == expected)
    }
}
