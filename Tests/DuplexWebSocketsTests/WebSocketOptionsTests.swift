// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite struct WebSocketOptionsTests {
    @Test("The defaults are the documented ones")
    func defaults() {
        let options = WebSocketOptions()
        #expect(options.subprotocols.isEmpty)
        #expect(options.headers.isEmpty)
        #expect(options.limits == .internet)
        #expect(options.keepalive == .every(.seconds(20), timeout: .seconds(20)))
        #expect(options.connectTimeout == .seconds(10))
        #expect(options.closeTimeout == .seconds(10))
    }

    @Test("Headers and subprotocols go out with the request")
    func request() async throws {
        var options = WebSocketOptions()
        options.subprotocols = ["chat.v2", "chat.v1"]
        options.headers[.authorization] = "Bearer secret"
        try await withListener { [options] url, accept in
            async let connected = WebSocket.connect(to: url + "room?id=7", options: options)
            let peer = try await accept()
            let request = try await peer.acceptWebSocket(fields: "Sec-WebSocket-Protocol: chat.v1")
            #expect(request.hasPrefix("GET /room?id=7 HTTP/1.1\r\n"))
            #expect(request.contains("\r\nSec-WebSocket-Protocol: chat.v2, chat.v1\r\n"))
            #expect(request.contains("\r\nAuthorization: Bearer secret\r\n"))
            #expect(try await connected.subprotocol == "chat.v1")
        }
    }

    @Test("The limits hold for what the server sends")
    func limits() async throws {
        var options = WebSocketOptions()
        options.limits = .internet.with(messageSize: 10)
        try await withClient(options: options) { socket, peer in
            try await peer.send(.text("ten bytes."), .text("eleven byte"))
            #expect(try await socket.receive() == "ten bytes.")
            await expect(.protocolViolation) { try await socket.receive() }
            #expect(try await peer.readFrame().closeCode == 1_009)
        }
    }

    @Test("The keepalive pings on its interval")
    func keepalive() async throws {
        var options = WebSocketOptions()
        options.keepalive = .every(.milliseconds(10), timeout: .seconds(20))
        try await withClient(options: options) { _, peer in
            for _ in 0..<3 {
                let ping = try await peer.readFrame()
                #expect(ping.opcode == 0x9)
                try await peer.send(.pong(ping.payload))
            }
        }
    }
}
