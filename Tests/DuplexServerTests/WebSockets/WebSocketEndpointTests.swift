// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexServer

@Suite struct WebSocketEndpointTests {
    private func endpoint(_ options: RouteOption...) -> WebSocketEndpoint {
        WebSocketEndpoint(
            pattern: "/",
            route: .task { _ in },
            admit: nil,
            parameters: [],
            settings: RouteSettings().with(options)
        )
    }

    @Test("The handshake is held to what the route has")
    func handshake() throws {
        let head = try RequestHead(method: .get, target: "/", version: .http10, fields: [:])
        let client = Client(remoteAddress: nil, tls: nil)
        let request = Request(head: head, parameters: [:], body: .none, client: client)
        let options = endpoint(.subprotocols("a", "b"), .compression(.accepted)).handshakeOptions(for: request)
        #expect(options.subprotocols == ["a", "b"] && options.deflate != nil)
        #expect(endpoint().handshakeOptions(for: request).deflate == nil)
        let broken = endpoint(.compression(.accepted), .compressionQuirks(CompressionQuirks { _ in true }))
        #expect(broken.handshakeOptions(for: request).deflate == nil)
    }
}
