// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import Testing

@testable import DuplexWebSockets
@testable import DuplexWire

@Suite(.timeLimit(minutes: 1)) struct WebSocketOriginTests {
    @Test(
        "The origin of a URL has the scheme of pages, the host, and the port if it isn't the scheme's",
        arguments: [
            ("ws://example.com/chat", "http://example.com"), ("wss://Example.com:443/chat?a", "https://example.com"),
            ("wss://me:pw@example.com:8443", "https://example.com:8443"), ("ws://[::1]:80/", "http://[::1]"),
        ]
    )
    func ofURL(url: String, origin: String) throws {
        #expect(try WebSocketOrigin.ofURL.value(for: WebSocketURL(url)) == origin)
    }

    @Test("A text is sent as it is, and a field of the caller's takes its place")
    func fields() throws {
        let url = try WebSocketURL("wss://example.com/")
        var options = WebSocketOptions()
        #expect(options.origin == nil)
        options.origin = "https://page.example"
        var plan = HandshakePlan(url, options)
        #expect(plan.fields(token: nil)[.origin] == "https://page.example")
        options.origin = .ofURL
        plan = HandshakePlan(url, options)
        #expect(plan.fields(token: nil)[.origin] == "https://example.com")
        options.headers[.origin] = "null"
        plan = HandshakePlan(url, options)
        #expect(plan.fields(token: nil)[.origin] == "null")
    }

    @Test("A refusal with 403 says so if no origin was sent, and blames the origin if one was")
    func refused() async throws {
        try await withIncoming { url, incoming in
            for origin in [nil, WebSocketOrigin.ofURL] {
                var options = WebSocketOptions()
                options.origin = origin
                async let error = failure(of: url, options)
                let peer = try await incoming()
                let head = try await peer.readHead()
                #expect(head.contains("Origin: http://127.0.0.1:\(incoming.port)") == (origin != nil))
                try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                let hint = await error?.hint
                #expect(hint?.contains("no Origin was sent") == (origin == nil))
                #expect(hint?.contains("see WebSocketOptions.origin") == (origin == nil))
                #expect(hint?.contains("may not allow the Origin") == (origin != nil))
                await peer.reset()
            }
        }
    }
}
