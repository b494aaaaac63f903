// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("URLs to connect to")
struct WebSocketURLParsingTests {
    @Test("Paths and queries with other characters arrive percent-encoded, over a real connection")
    func target() async throws {
        try await withServer { server in
            server.webSocket("/*") { socket, request in try await socket.send(request.head.target) }
        } _: { address in
            let socket = try await WebSocket.connect(to: " ws://127.0.0.1:\(address.port)/käse und brot?q=日本 ")
            #expect(try await socket.receive() == .text("/k%C3%A4se%20und%20brot?q=%E6%97%A5%E6%9C%AC"))
            await socket.close()
        }
    }

    @Test(
        "A host beyond ASCII is converted, and is that of the request",
        .enabled(if: Integration.isOn || HostNameLibrary.shared != nil, "libidn2 isn't installed")
    )
    func host() async throws {
        try await withServer { server in
            server.webSocket("/") { socket, request in try await socket.send(request.head.host) }
        } _: { address in
            var options = WebSocketOptions()
            options.resolver = StaticResolver(["xn--bcher-kva.example": [address]])
            let socket = try await WebSocket.connect(to: "ws://Bücher.example:\(address.port)/", options: options)
            #expect(try await socket.receive() == .text("xn--bcher-kva.example:\(address.port)"))
            await socket.close()
        }
    }

    @Test("A host that can't be converted is an error that says why")
    func refusing() async {
        let error = await #expect(throws: WebSocketError.self) {
            try await WebSocket.connect(to: "ws://ü..example\u{2028}/")
        }
        #expect(error?.code == .invalidURL && error?.cause is WebSocketURLError, "\(error.debugDescription)")
    }
}
