// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import Testing

@testable import DuplexServer

@Suite struct ServerConnectionTests {
    @Test("Counts of loops add up")
    func sums() {
        let one = ServerCounts(connections: 1, webSockets: 2, requests: 3)
        #expect(one + one == ServerCounts(connections: 2, webSockets: 4, requests: 6))
    }

    @Test("Each connection tells what it does, and can be closed in order or at once")
    func closing() async throws {
        let (started, tell) = AsyncStream<Void>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "ok" }
        server.get("/slow") { _ in
            tell.yield()
            let (never, continuation) = AsyncStream<Never>.makeStream()
            defer { continuation.finish() }
            for await _ in never {}
            return "cancelled"
        }
        server.webSocket("/socket") { socket in for try await _ in socket.messages {} }
        let running = try await server.start()
        let address = running.addresses[0]
        let idle = try await RawPeer.connect(to: address)
        #expect(try await idle.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "ok")
        let slow = try await RawPeer.connect(to: address)
        try await slow.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in started { break }
        let socket = try await RawPeer.openWebSocket(to: address, "/socket")
        let counts = await running.counts
        #expect(counts == ServerCounts(connections: 2, webSockets: 1, requests: 3))

        let connections = await running.connections
        #expect(Set(connections.map(\.route)) == [nil, "GET /slow", "WebSocket /socket"])
        #expect(connections.allSatisfy { $0.age >= .zero })
        for connection in connections {
            switch connection.kind {
            case .http where connection.route == nil:
                #expect(connection.remoteAddress == idle.socket.localAddress)
                connection.close()
            case .http: connection.reset()
            case .webSocket: connection.close()
            }
        }
        #expect(try await idle.isAtEnd())
        #expect(await slow.isOver())
        #expect(try await socket.readFrame().closeCode == 1_001)
        await running.stop(within: .zero)
        // What has ended is left alone.
        for connection in connections { connection.close() }
    }

    @Test("One that has become a WebSocket since isn't taken away from it")
    func upgraded() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "ok" }
        server.webSocket("/echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "ok")
        let before = try #require(await running.connections.first)
        try await peer.send(RawPeer.upgradeRequest("/echo"))
        #expect(try await peer.readHead().hasPrefix("HTTP/1.1 101 "))
        before.reset()
        // Behind what the loop was asked for.
        #expect(await running.counts.webSockets == 1)
        try await peer.send(.text("still here"))
        #expect(try await peer.readFrame().text == "still here")
        await peer.close()
        await running.stop()
    }

    @Test("A stream of events ends in order, by a feed and by a handler", .timeLimit(minutes: 1))
    func events() async throws {
        let feed = EventFeed()
        let (started, tell) = AsyncStream<Void>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.events("/feed", of: feed, replay: 1)
        server.events("/handler") { stream in
            try await stream.send("one")
            tell.yield()
            let (never, continuation) = AsyncStream<Never>.makeStream()
            defer { continuation.finish() }
            for await _ in never {}
        }
        try feed.publish("one")
        let running = try await server.start()
        for path in ["/feed", "/handler"] {
            let peer = try await RawPeer.connect(to: running.addresses[0])
            try await peer.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await peer.readHead()
            if path == "/handler" { for await _ in started { break } }
            // The one before may not be gone yet, though its client has seen its end.
            let pushing = await running.connections.filter { $0.route != nil }
            #expect(pushing.map(\.route) == ["GET \(path)"])
            for connection in pushing { connection.close() }
            let rest = try await peer.readToEnd()
            #expect(rest.suffix(5).elementsEqual("0\r\n\r\n".utf8))
        }
        await running.stop()
    }
}
