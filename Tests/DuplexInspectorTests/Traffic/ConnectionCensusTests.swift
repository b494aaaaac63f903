// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("The connections of a process", .timeLimit(minutes: 1))
struct ConnectionCensusTests {
    private func entries(where isMeant: (ConnectionFacts) -> Bool) async -> [ConnectionFacts] {
        await ConnectionCensus.take().entries.map(\.facts).filter(isMeant)
    }

    @Test("Both ends of a WebSocket are there, with what they know, and both are gone when it is closed")
    func webSockets() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.webSocket("/census-echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        let running = try await server.start()
        let port = running.addresses[0].port
        let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/census-echo?secret=1")
        try await socket.send("hello")
        #expect(try await socket.receive() == .text("hello"))
        _ = try await socket.ping(timeout: .limit(seconds: 20))

        let near = try #require(await entries { $0.id == "\(socket.id)" }.first)
        #expect(near.isClient && near.kind == .webSocket && near.place == "ws://127.0.0.1:\(port)/census-echo")
        #expect(near.messagesIn == 1 && near.bytesOut == 5 && near.latency?.count == 1 && near.timeline != nil)
        let far = try #require(await entries { $0.place == "WebSocket /census-echo" && $0.local?.port == port }.first)
        #expect(!far.isClient && far.messagesIn == 1 && far.peer == near.local)
        #expect(await ConnectionCensus.find(far.id)?.facts.place == far.place)

        await socket.close()
        await running.stop()
        #expect(await entries { $0.id == far.id || $0.id == near.id && $0.state == "open" }.isEmpty)
    }

    @Test("So are HTTP connections with their routes, streams, datagram sockets, and clients that connect again")
    func others() async throws {
        let (reached, isThere) = AsyncStream<Void>.makeStream()
        let (gate, isOpen) = AsyncStream<Never>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/census-wait") { _ in
            isThere.finish()
            for await _ in gate {}
            return "ok"
        }
        let running = try await server.start()
        let address = running.addresses[0]
        let peer = try await RawPeer.connect(to: address)
        try await peer.send("GET /census-wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in reached {}
        let http = try #require(await entries { $0.place == "GET /census-wait" }.first)
        #expect(http.kind == .http && http.state == "answering" && http.local == address)
        #expect(await ConnectionCensus.find(http.id)?.facts.place == "GET /census-wait")
        isOpen.finish()
        #expect(try await peer.readResponse().status == 200)
        // What was shown of one that has gone leads to no other, wherever that lies.
        var seen: Set = [http.id]
        for _ in 0..<20 {
            let next = try await RawPeer.connect(to: address)
            try await next.send("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await next.readResponse()
            let facts = try #require(
                await entries { $0.kind == .http && $0.local == address && !seen.contains($0.id) }.first
            )
            seen.insert(facts.id)
            try await next.send("GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            _ = try await next.readResponse()
        }

        let stream = try await Socket.connect(to: .address(address))
        try await stream.write("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await stream.readLine()
        let near = try #require(await entries { $0.kind == .stream && $0.local == stream.localAddress }.first)
        #expect(near.isClient && near.bytesOut == 39 && near.peer == address)

        let udp = try await UDPSocket.bind("127.0.0.1")
        // It lies on its loop from when somebody has to wait for it.
        let arrival = Task { try await udp.receive() }
        while await entries(where: { $0.kind == .datagrams && $0.local == udp.localAddress }).isEmpty {
            await Task.yield()
        }
        _ = try await udp.send([1, 2, 3], to: udp.localAddress)
        _ = try await arrival.value
        let datagrams = try #require(await entries { $0.kind == .datagrams && $0.local == udp.localAddress }.first)
        #expect(datagrams.messagesIn == 1 && datagrams.bytesOut == 3)

        let client = ReconnectingWebSocket("ws://127.0.0.1:1/census")
        #expect(await entries { $0.kind == .reconnecting && $0.place == "ws://127.0.0.1:1/census" }.count == 1)
        await client.close()
        await udp.close()
        await running.stop()
    }

    @Test("A stream of events tells how many were dropped since its client is behind")
    func droppedEvents() async throws {
        let (reached, isThere) = AsyncStream<Int>.makeStream()
        let (gate, isOpen) = AsyncStream<Never>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.events("/census-events", slow: .dropOldest(keeping: 1)) { stream in
            while await stream.dropped == 0 { try await stream.send(String(repeating: "x", count: 65_536)) }
            isThere.yield(await stream.dropped)
            for await _ in gate {}
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        try await peer.send("GET /census-events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let dropped = await reached.first { _ in true }
        let events = try #require(await entries { $0.kind == .events && $0.local == running.addresses[0] }.first)
        #expect(events.droppedMessages == dropped && events.place == "GET /census-events")
        isOpen.finish()
        await peer.close()
        await running.stop()
    }
}

@Suite("The names of connections")
struct ConnectionNamesTests {
    private final class Object: Sendable {}

    @Test(
        "One has the same name each time, and no other ever gets it, also where it lies at the same place",
        .enabled(if: !Sanitizer.isPresent, "With a sanitizer freed memory isn't used again at once.")
    )
    func unique() {
        let names = ConnectionNames()
        var seen: Set<String> = []
        var places: Set<ObjectIdentifier> = []
        for _ in 0..<1_000 {
            let object = Object()
            let name = names.name("tcp", object)
            #expect(seen.insert(name).inserted)
            #expect(names.name("tcp", object) == name)
            places.insert(ObjectIdentifier(object))
        }
        #expect(places.count < 1_000, "Places in memory come again, or this shows nothing.")
    }

    @Test("Those that have gone aren't kept")
    func bounded() {
        let names = ConnectionNames()
        let kept = (0..<100).map { _ in Object() }
        let first = kept.map { names.name("udp", $0) }
        for _ in 0..<10_000 { _ = names.name("udp", Object()) }
        #expect(names.count <= 256)
        #expect(kept.map { names.name("udp", $0) } == first)
    }
}
