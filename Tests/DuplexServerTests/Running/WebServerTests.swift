// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@Suite(.serialized) struct WebServerTests {
    private static let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("The defaults are the documented ones")
    func defaults() {
        let server = WebServer(port: 8_080)
        #expect(server.listener.address == .tcp(port: 8_080))
        #expect(server.tls == nil)
        #expect(server.limits == .internet)
        #expect(server.webSockets.pings == .every(.seconds(20), timeout: .seconds(20)))
        #expect(server.closeTimeout == .seconds(10))
        #expect(server.idleTimeout == .seconds(60))
        #expect(server.webSockets.origins == .sameHost)
        #expect(server.webSockets.subprotocols.isEmpty)
        #expect(server.eventLoops == nil)
        #expect(server.webSockets.compression == .disabled && server.webSockets.metrics == nil)
    }

    @Test("With port 0 the actual port is known before the first request is taken")
    func portZero() async throws {
        let answered = Atomic<Bool>(false)
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in
            answered.store(true, ordering: .relaxed)
            return "ok"
        }
        let (responses, tell) = AsyncStream<Int>.makeStream()
        let task = Task { [server] in
            try await server.run { address in
                #expect(address.port > 0)
                let peer = try await RawPeer.connect(to: address)
                try await peer.send(Self.request)
                // The system has taken the connection; the server hasn't.
                await #expect {
                    _ = try await peer.socket.read(timeout: .milliseconds(30))
                } throws: {
                    ($0 as? SocketError)?.code == .timedOut
                }
                let hasAnswered = answered.load(ordering: .relaxed)
                #expect(!hasAnswered)
                Task {
                    tell.yield(try await peer.readResponse().status)
                    tell.finish()
                }
            }
        }
        for await status in responses { #expect(status == 200) }
        task.cancel()
        try await task.value
    }

    @Test("A port that is taken is an error, although each loop of a server has a descriptor of its own")
    func portTaken() async throws {
        try await withServer { server in
            server.get("/") { _ in "first" }
        } _: { address in
            for loops in [1, 2, 3] {
                let group = try EventLoopGroup(loops: loops)
                var second = WebServer(host: "127.0.0.1", port: address.port)
                second.eventLoops = group
                await #expect {
                    try await second.run()
                } throws: {
                    ($0 as? SocketError)?.code == .cannotBind
                }
                await group.stop()
            }
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.request).text == "first")
        }
    }

    @Test("The port is free once run() has returned, and nothing answers there")
    func portFree() async throws {
        // An address of its own: beside the other tests, the port that has become free may soon be somebody else's.
        let host = "127.83.11.5"
        var server = WebServer(host: .address(host), port: 0)
        server.get("/") { _ in "ok" }
        let address = try await server.withRunning { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.request).status == 200)
            return address
        }
        #expect(await comesToRefuse(.address(address)))
        server.listener.address = .tcp(host: .address(host), port: address.port)
        let again = try await server.withRunning { address in
            let peer = try await RawPeer.connect(to: address)
            return try await peer.response(to: Self.request).status
        }
        #expect(again == 200)
    }

    @Test("withRunning returns what its body returns, and throws what it throws")
    func withRunning() async throws {
        struct Failure: Error {}
        let server = WebServer(host: "127.0.0.1", port: 0)
        #expect(try await server.withRunning { _ in 42 } == 42)
        await #expect(throws: Failure.self) {
            try await server.withRunning { _ in throw Failure() }
        }
    }

    @Test("An error of onListening ends run() with it, and the port is free")
    func failingOnListening() async throws {
        struct Failure: Error {}
        try await withReservedPort { reserved in
            let server = WebServer(host: "127.0.0.1", port: reserved.port)
            let seen = Mutex<SocketAddress?>(nil)
            await #expect(throws: Failure.self) {
                try await server.run { address in
                    seen.withLock { $0 = address }
                    throw Failure()
                }
            }
            #expect(seen.withLock { $0 } == reserved)
            #expect(await comesToRefuse(.address(reserved)))
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: reserved.port))
            await listener.close()
        }
    }

    @Test("A host that isn't an address of this machine is an error")
    func wrongHost() async {
        await #expect {
            try await WebServer(host: "192.0.2.1", port: 0).run()
        } throws: {
            ($0 as? SocketError)?.code == .cannotBind
        }
    }

    @Test("A server is a value: a route that is added to a copy isn't in the original")
    func value() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "original" }
        var copy = server
        copy.get("/") { _ in "copy" }
        let text = try await server.withRunning { address in
            try await RawPeer.connect(to: address).response(to: Self.request).text
        }
        #expect(text == "original")
        _ = copy
    }

    @Test("Localhost is reached over IPv4 and IPv6")
    func localhost() async throws {
        var server = WebServer(port: 0)
        server.get("/") { request in request.remoteAddress?.isIPv6 == true ? "six" : "four" }
        let texts = try await server.withRunning { address in
            var texts: [String] = []
            for host in ["127.0.0.1", "::1"] {
                let address = try SocketAddress(host, port: address.port)
                texts.append(try await RawPeer.connect(to: address).response(to: Self.request).text)
            }
            return texts
        }
        #expect(texts == ["four", "six"])
    }
}

@Suite struct ServerLimitsTests {
    @Test("Each preset is made of those of its name")
    func presets() {
        #expect(ServerLimits.internet.messages == .internet && ServerLimits.internet.http == .internet)
        #expect(ServerLimits.local.messages == .local && ServerLimits.local.http == .local)
        #expect(ServerLimits.unlimited.messages == .unlimited && ServerLimits.unlimited.http == .unlimited)
        #expect(ServerLimits.internet.connectionsPerAddress == 1_024)
    }
}

@Suite(.timeLimit(minutes: 1)) struct DrainTests {
    @Test("WebSockets are closed in batches, with the code and the reason; who waits for a batch is still served")
    func inBatches() async throws {
        try await withMemoryServer { server in
            server.drain = Drain(code: .serviceRestart, reason: "back soon", over: .seconds(2))
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { server in
            var clients: [WebSocket] = []
            for _ in 0..<8 { clients.append(try await server.webSocket()) }
            await server.beginToEnd()
            for left in (0..<8).reversed() {
                clients = try await Self.stillServed(clients)
                #expect(clients.count == left)
                await server.loop.advance(by: .seconds(2) / 7)
            }
        }
    }

    @Test("Very many are closed in several turns, with the server's code, though their handlers are tasks")
    func manyTurns() async throws {
        try await withMemoryServer { server in
            server.drain = Drain(code: .serviceRestart)
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { server in
            var clients: [WebSocket] = []
            for _ in 0..<300 { clients.append(try await server.webSocket()) }
            guard case .manual(let time) = server.loop.loop.clock else {
                Issue.record("The loop has the machine's clock.")
                return
            }
            // Each look at the clock takes as long as a share of a turn.
            time.pass(.milliseconds(5))
            await server.beginToEnd()
            time.pass(.zero)
            for client in clients {
                await #expect(throws: WebSocketError.self) { try await client.receive() }
                #expect(await client.close().received?.code == .serviceRestart)
            }
        }
    }

    /// Those of the clients that get an echo; the others were closed as the server was told to.
    private static func stillServed(_ clients: [WebSocket]) async throws -> [WebSocket] {
        var served: [WebSocket] = []
        for client in clients {
            do {
                try await client.send("still here?")
                #expect(try await client.receive() == .text("still here?"))
                served.append(client)
            } catch {
                let report = await client.close()
                #expect(report.received?.code == .serviceRestart && report.received?.reason == "back soon", "\(error)")
                #expect(report.isClean && report.initiator == .remote)
            }
        }
        return served
    }
}
