// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct RequestedHandlerTests {
    /// Greets by a name of the request's path, and echoes.
    private struct Greeter: RequestedHandler {
        struct Greeting: WebSocketHandler {
            let name: String

            func opened(_ socket: isolated WebSocket) { socket.enqueue(PreparedMessage(.text("hello \(name)"))) }

            func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
                socket.enqueue(bytes, kind)
            }
        }

        func handler(for request: Request) -> Greeting { Greeting(name: request.parameters["name"] ?? "") }
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
    }

    @Test("A synchronous handler is given the request of each connection")
    func request() async throws {
        try await withServer { server in
            server.webSocket("/:name", handler: Greeter())
            server.webSocket("/admitted/:name", admit: { _ in .accepted }, handler: Greeter())
        } _: { address in
            for path in ["/ada", "/admitted/ada"] {
                let peer = try await RawPeer.openWebSocket(to: address, path)
                #expect(try await peer.readFrame().text == "hello ada")
                try await peer.send(.text("echo"))
                #expect(try await peer.readFrame().text == "echo")
                await peer.close()
            }
        }
    }
}
