// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// RFC 7692.
@Suite struct CompressionTests {
    /// "Hello" by itself, and again with reference to the first (section 7.2.3).
    private static let hello = RawFrame(0x1, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], reservedBits: 0x40)
    private static let helloAgain = RawFrame(0x1, [0xF2, 0x00, 0x11, 0x00, 0x00], reservedBits: 0x40)

    private static func response(to offers: String) async throws -> String? {
        try await withServer { server in
            server.webSockets.compression = .enabled
            server.webSocket("/") { _ in }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let field = "Sec-WebSocket-Extensions: \(offers)"
            let response = try await peer.response(to: RawPeer.upgradeRequest("/", field))
            #expect(response.status == 101)
            await peer.close()
            return response["Sec-WebSocket-Extensions"]
        }
    }

    @Test(
        "5.1 An offer that a server can't accept is declined, and the next one taken",
        arguments: [
            ("permessage-deflate; unknown", nil), ("permessage-deflate; server_max_window_bits=7", nil),
            ("permessage-deflate; server_max_window_bits=8", nil),
            ("permessage-deflate; client_max_window_bits=16", nil),
            ("permessage-deflate; server_no_context_takeover=1", nil),
            ("permessage-deflate; server_max_window_bits=10; server_max_window_bits=10", nil),
            (
                "permessage-deflate; unknown, permessage-deflate; server_max_window_bits=10",
                "permessage-deflate; server_max_window_bits=10"
            ),
        ] as [(String, String?)]
    )
    func declines(offers: String, answer: String?) async throws {
        let seen = try await Self.response(to: offers)
        #expect(seen == answer)
    }

    @Test(
        "7.1 A client fails the handshake when the answer isn't one to its offer",
        arguments: [
            "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
            "permessage-deflate, permessage-deflate",
            "permessage-deflate; client_max_window_bits=16", "permessage-deflate; client_max_window_bits", "x-other",
        ]
    )
    func clientRefuses(answer: String) async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url, options: WebSocketOptions().patient) }
            let peer = try await accept()
            try await peer.acceptWebSocket(headers: "Sec-WebSocket-Extensions: \(answer)")
            await #expect(throws: WebSocketError.self) { try await attempt.value }
            await peer.reset()
        }
    }

    @Test("6.1 The bit on a control frame or behind the first fragment fails with 1002", arguments: Endpoint.allCases)
    func misplacedBit(endpoint: Endpoint) async throws {
        for opcode in [0x8, 0x9, 0xA] as [UInt8] {
            try await endpoint.openCompressed { peer in
                try await peer.send(RawFrame(opcode, [], reservedBits: 0x40), failing: 1_002)
            }
        }
        try await endpoint.openCompressed { peer in
            let first = RawFrame(0x1, Self.hello.payload, isFinal: false, reservedBits: 0x40)
            try await peer.send(first, RawFrame(0x0, [0x00], reservedBits: 0x40), failing: 1_002)
        }
    }

    @Test("6.2 Messages with and without compression follow each other", arguments: Endpoint.allCases)
    func mixed(endpoint: Endpoint) async throws {
        try await endpoint.openCompressed { peer in
            for frame in [Self.hello, .text("Hello"), Self.helloAgain] {
                try await peer.send(frame)
                let echo = try await peer.readFrame()
                #expect(echo.reservedBits == 0x40 && echo.opcode == 0x1)
            }
        }
    }

    @Test("7.2.3 Messages go out as short as the examples have them, and mean the same", arguments: Endpoint.allCases)
    func examples(endpoint: Endpoint) async throws {
        try await endpoint.openCompressed { peer in
            try await peer.send(Self.hello, Self.helloAgain)
            let inflater = Inflater()
            for example in [Self.hello, Self.helloAgain] {
                let echo = try await peer.readFrame()
                // How a match is written is the sender's choice.
                #expect(echo.reservedBits == 0x40 && echo.payload.count <= example.payload.count)
                var text: [UInt8] = []
                var position = 0
                let payload = echo.payload
                #expect(inflater.inflate(rawSpan(of: payload), from: &position, into: &text, upTo: 10) == .inputTaken)
                #expect(inflater.inflateEnd(into: &text, upTo: 10) == .inputTaken)
                inflater.endMessage()
                #expect(text == Array("Hello".utf8))
            }
        }
    }

    @Test("7.2.2 What can't be inflated fails with 1007", arguments: Endpoint.allCases)
    func corrupt(endpoint: Endpoint) async throws {
        for payload in [[0x07], [0xF2, 0x48], [0xF2, 0x00, 0x11, 0x00, 0x00]] as [[UInt8]] {
            try await endpoint.openCompressed { peer in
                try await peer.send(RawFrame(0x1, payload, reservedBits: 0x40), failing: 1_007)
            }
        }
    }
}

extension Endpoint {
    /// Opens a connection that has agreed on whole windows from the test's side, with context.
    func openCompressed(
        limits: MessageLimits = .internet,
        _ body: @escaping @Sendable (RawPeer) async throws -> Void
    ) async throws {
        let field = "Sec-WebSocket-Extensions: permessage-deflate"
        switch self {
        case .server:
            try await withServer { server in
                server.webSockets.compression = .enabled
                server.limits.messages = limits
                server.webSocket("/") { socket in
                    for try await message in socket.messages { try await socket.send(message) }
                }
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                let response = try await peer.response(to: RawPeer.upgradeRequest("/", field))
                #expect(response["Sec-WebSocket-Extensions"]?.hasPrefix("permessage-deflate") == true)
                try await body(peer)
                await peer.close()
            }
        case .client:
            try await withListener { url, accept in
                let options = Self.options(limits)
                async let connected = WebSocket.connect(to: url, options: options.patient)
                let peer = try await accept()
                try await peer.acceptWebSocket(headers: field)
                let socket = try await connected
                let echo = Task {
                    for try await message in socket.messages { try await socket.send(message) }
                }
                try await body(peer)
                await peer.close()
                // It ends with the connection; how, is what the test has seen on the wire.
                _ = await echo.result
            }
        }
    }

    private static func options(_ limits: MessageLimits) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.limits = limits
        return options
    }
}

/// Bytes as the inflater takes them.
@_lifetime(borrow bytes)
private func rawSpan(of bytes: borrowing [UInt8]) -> RawSpan {
    // Bytes have no padding.
    unsafe bytes.span.bytes
}
