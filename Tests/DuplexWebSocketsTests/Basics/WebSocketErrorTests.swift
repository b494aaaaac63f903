// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets

@Suite struct WebSocketErrorTests {
    @Test("It takes one word, since every task that waits for a message has room for it; its parts can be set")
    func size() {
        #expect(MemoryLayout<WebSocketError>.size == MemoryLayout<Int>.size)
        var error = WebSocketError(.closed, message: "Over.")
        let copy = error
        error.code = .timedOut
        error.message = "Late."
        error.cause = SocketError(.timedOut, message: "Slow.")
        #expect(error.description == "WebSocketError.timedOut: Late.\n  SocketError.timedOut: Slow.")
        #expect(copy.description == "WebSocketError.closed: Over." && copy.cause == nil && copy.timeline == nil)
    }

    @Test("It describes itself with its code, its message, and its cause on lines of its own")
    func description() {
        let lowest = SocketError(
            .cannotConnect,
            message: "Nothing listens.",
            causes: [SocketError(.timedOut, message: "Slow.")]
        )
        let error = WebSocketError(.cannotConnect, message: "The server can't be reached.", cause: lowest)
        #expect(
            error.description == """
                WebSocketError.cannotConnect: The server can't be reached.
                  SocketError.cannotConnect: Nothing listens.
                    SocketError.timedOut: Slow.
                """
        )
        #expect(WebSocketError(.closed, message: "Over.").description == "WebSocketError.closed: Over.")
    }

    @Test("A refusal says what came, when, what took how long, what the answer says and what to do")
    func refusal() throws {
        let connecting = ConnectTimeline(
            nameLookup: .milliseconds(14),
            attempts: [
                ConnectTimeline.Attempt(
                    address: try SocketAddress("93.184.216.34", port: 443),
                    start: .milliseconds(14),
                    end: .milliseconds(45),
                    outcome: .connected
                )
            ],
            tls: .milliseconds(61),
            total: .milliseconds(106)
        )
        var head = ResponseHead(status: .unauthorized)
        head.headers[.wwwAuthenticate] = "Bearer realm=\"chat\""
        let cause = HandshakeError(.refused, "no", response: head, body: Array("who?\n".utf8), hint: "the server asks")
        var error = WebSocketError(.handshakeRefused, message: "401 from wss://example.com/chat", cause: cause)
        error.timeline = HandshakeTimeline(
            .upgrade,
            connecting: connecting,
            security: HandshakeTimeline.Security(version: .tls13, isResumed: false),
            upgrade: .milliseconds(106),
            requests: 1,
            total: .milliseconds(212)
        )
        #expect(
            error.description == """
                WebSocketError.handshakeRefused: 401 from wss://example.com/chat, 212 ms into the attempt
                  names 14 ms · TCP 31 ms (93.184.216.34:443) · TLS 1.3 61 ms · upgrade 106 ms
                  www-authenticate: Bearer realm="chat"
                  body: “who?·”
                  hint: the server asks: see WebSocketOptions.authentication
                """
        )
    }

    @Test("A server's refusal is told so, over a real connection")
    func refused() async throws {
        try await withServer { server in
            server.webSocket("/") { _ in
                Admission.refused(.forbidden, "Not you.")
            } handler: { _, _ in
            }
        } _: { address in
            let error = await failure(of: "ws://\(address)/")
            let lines = error?.description.split(separator: "\n") ?? []
            try #require(lines.count >= 3)
            #expect(lines[0].hasPrefix("WebSocketError.handshakeRefused: 403 from ws://\(address)/, "))
            #expect(lines[0].hasSuffix(" ms into the attempt"))
            #expect(lines[1].hasPrefix("  TCP ") && lines[1].contains("(\(address)) · upgrade "))
            #expect(lines.contains { $0.hasPrefix("  hint: the server refuses this client") })
            #expect(error?.timeline?.remoteAddress == address && error?.timeline?.upgrade != nil)
        }
    }

    @Test("The server's answer is found where a handshake was refused, and only there")
    func handshake() {
        let refusal = HandshakeError(.refused, "no", response: ResponseHead(status: .unauthorized))
        #expect(WebSocketError(.handshakeRefused, message: "", cause: refusal).handshake?.status == .unauthorized)
        #expect(WebSocketError(.timedOut, message: "").handshake == nil)
        #expect(WebSocketError(.cannotConnect, message: "", cause: SocketError(.system, message: "")).handshake == nil)
    }
}
