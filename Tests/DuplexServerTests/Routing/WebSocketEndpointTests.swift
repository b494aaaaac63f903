// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
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
        let head = try RequestHead(method: .get, target: "/", version: .http10, headers: [:])
        let client = Request.Connection(remoteAddress: nil, tls: nil)
        let request = Request(head: head, parameters: [:], body: .none, connection: client)
        let options = endpoint(.subprotocols("a", "b"), .compression(.enabled)).handshakeOptions(for: request)
        #expect(options.subprotocols == ["a", "b"] && options.deflate != nil)
        #expect(endpoint().handshakeOptions(for: request).deflate == nil)
        let broken = endpoint(.compression(.enabled), .compressionQuirks(CompressionQuirks { _ in true }))
        #expect(broken.handshakeOptions(for: request).deflate == nil)
    }
}

@Suite struct WebSocketHandlerRouteTests {
    /// Greets by a name of the request's path, and echoes.
    private struct Greeter: WebSocketHandler {
        let name: String

        func opened(_ socket: isolated WebSocket) { socket.enqueue(PreparedMessage(.text("hello \(name)"))) }

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    @Test("A synchronous handler is made of the request of each connection, and what that throws refuses")
    func request() async throws {
        try await withServer { server in
            server.webSocketHandler("/:name") { request in
                let name = try request.parameters.require("name")
                if name == "eve" { throw Problem(.forbidden, "Not you.") }
                return Greeter(name: name)
            }
        } _: { address in
            for name in ["ada", "bob"] {
                let peer = try await RawPeer.openWebSocket(to: address, "/\(name)")
                #expect(try await peer.readFrame().text == "hello \(name)")
                try await peer.send(.text("echo"))
                #expect(try await peer.readFrame().text == "echo")
                await peer.close()
            }
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/eve")).status == 403)
            await peer.close()
        }
    }

    @Test("A synchronous handler serves the connections that are admitted")
    func admitted() async throws {
        try await withServer { server in
            server.webSocket("/", admit: { _ in .accepted }, handler: Greeter(name: "all"))
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address, "/")
            #expect(try await peer.readFrame().text == "hello all")
            await peer.close()
        }
    }
}

@Suite struct UpgradeTests {
    @Test(
        "The key that RFC 6455 section 4.1 has as an example opens a WebSocket, and so does one without padding",
        arguments: ["AQIDBAUGBwgJCgsMDQ4PEC==", "dGhlIHNhbXBsZSBub25jZQ"]
    )
    func lenientKey(key: String) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in try await socket.send("hi") }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let request = RawPeer.upgradeRequest("/").replacing(RawPeer.sampleKey, with: key)
            let answer = try await peer.response(to: request)
            #expect(answer.status == 101 && answer["Sec-WebSocket-Accept"] == RawPeer.accept(for: request))
            #expect(try await peer.readFrame().text == "hi")
            await peer.close()
        }
    }

    @Test(
        "A WebSocket may begin behind a request that was answered by a task, and behind one that was answered at once"
    )
    func behindOthers() async throws {
        try await withServer { server in
            server.get("/now") { _ in "now" }
            server.get("/later") { _ in
                await Task.yield()
                return "later"
            }
            server.webSocket("/socket") { socket, request in try await socket.send(request.path) }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for path in ["now", "later"] {
                #expect(try await peer.response(to: "GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n").text == path)
            }
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/socket")).status == 101)
            #expect(try await peer.readFrame().text == "/socket")
            await peer.close()
        }
    }
}
