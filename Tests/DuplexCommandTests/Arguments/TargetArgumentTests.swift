// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import Testing

@testable import DuplexCommand

@Suite("What a client connects to, on the command line")
struct TargetArgumentTests {
    @Test(
        "Without a scheme it is a WebSocket in the clear",
        arguments: [
            ("localhost", "ws://localhost"), ("localhost:8080/echo?a=b", "ws://localhost:8080/echo?a=b"),
            ("[::1]:8080", "ws://[::1]:8080"), ("192.0.2.1:80/x", "ws://192.0.2.1:80/x"),
            ("wss://a.test/", "wss://a.test/"), ("HTTP://a.test", "HTTP://a.test"), ("ws+unix:/a:/b", "ws+unix:/a:/b"),
        ]
    )
    func webSockets(text: String, url: String) throws {
        #expect(try TargetArgument.webSocket(text) == url)
        let target = try TargetArgument.any(text)
        #expect(target.url == url && target.stream == nil)
    }

    @Test("Streams are told by their scheme", arguments: ["tcp://a.test:1", "tls://a.test:1", "unix:/a", "unix:@a"])
    func streams(text: String) throws {
        #expect(try TargetArgument.any(text).stream == Endpoint(text))
        #expect(throws: ValidationError.self) { try TargetArgument.webSocket(text) }
    }

    @Test(
        "What can't be is refused",
        arguments: [
            "", "ftp://a", "://a", "tcp://a", "tls:a:1", "unix:", "ws:/a", "ws:a", "ws://", "ws://a:99999", "a b",
            "a:b",
            "ws://a/#f", "\u{1b}",
        ]
    )
    func refusals(text: String) {
        let error = #expect(throws: ValidationError.self) { try TargetArgument.any(text) }
        #expect(error?.message.contains("\u{1b}") == false)
    }
}
