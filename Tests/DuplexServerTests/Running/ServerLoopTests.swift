// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Logging
import Testing

/// How a server ends: `run()` is cancelled and returns when everything is over.
@Suite(.serialized) struct ServerLoopTests {
    /// A server that runs until it is told to stop.
    private struct Running {
        let address: SocketAddress
        let task: Task<Void, any Error>
        let group: EventLoopGroup

        /// Cancels the server, and returns once its loop, of which there must be one only, has begun to end.
        func beginToStop() async throws {
            let idle = try await RawPeer.connect(to: address)
            #expect(try await idle.response(to: "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n").status == 404)
            task.cancel()
            // A connection without a request is closed when the others are told.
            #expect(try await idle.isAtEnd())
            await idle.close()
        }

        /// Waits for the end.
        func end() async throws {
            let result = await task.result
            await group.stop()
            try result.get()
        }
    }

    private func start(loops: Int = 1, _ configure: (inout WebServer) -> Void) async throws -> Running {
        let group = try EventLoopGroup(loops: loops)
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.allowedHosts = ["*"]
        server.eventLoops = group
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        configure(&server)
        let (addresses, tell) = AsyncStream<SocketAddress>.makeStream()
        let task = Task { [server] in try await server.run { tell.yield($0) } }
        for await address in addresses { return Running(address: address, task: task, group: group) }
        throw CancellationError()
    }

    @Test("WebSocket clients see 1001, whatever their handlers do")
    func webSockets() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        defer { gateKeeper.finish() }
        let running = try await start(loops: 2) { server in
            server.webSocket("/reading") { socket in
                begin.yield()
                for try await _ in socket.messages {}
            }
            server.webSocket("/waiting") { _ in
                begin.yield()
                for await _ in gate {}
            }
        }
        var peers: [RawPeer] = []
        var iterator = begun.makeAsyncIterator()
        for path in ["/reading", "/waiting"] {
            peers.append(try await RawPeer.openWebSocket(to: running.address, path))
            await iterator.next()
        }
        running.task.cancel()
        for peer in peers {
            let frame = try await peer.readFrame()
            #expect(frame.opcode == 0x8)
            #expect(frame.closeCode == 1_001)
            try await peer.send(.close(1_001))
            #expect(try await peer.isAtEnd())
            await peer.close()
        }
        try await running.end()
    }

    @Test(
        "An app that pushes and never receives keeps nobody: not a client that closes, nor the end",
        .timeLimit(minutes: 1)
    )
    func pushing() async throws {
        // No time passes on the server's loop, so nothing of it is a timeout's doing.
        let loop = try EventLoop(name: "server", clock: .manual(ManualTime()))
        let (addresses, tell) = AsyncStream<SocketAddress>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.eventLoops = EventLoopGroup(of: [loop])
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        // Large, so that what lies in the system's buffers is few messages.
        let tick = [UInt8](repeating: 0x5A, count: 32 * 1_024)
        server.webSocket("/push") { socket in
            while true { try await socket.send(tick) }
        }
        server.webSocket("/wait") { socket in
            let (never, keeper) = AsyncStream<Never>.makeStream()
            defer { keeper.finish() }
            for await _ in never {}
        }
        let running = Task { [server] in try await server.run { tell.yield($0) } }
        var iterator = addresses.makeAsyncIterator()
        let address = try #require(await iterator.next())
        var options = WebSocketOptions()
        options.closeTimeout = .seconds(3_600)
        var staying: [Task<CloseReport, any Error>] = []
        for path in ["/push", "/wait"] {
            // None, some, and more than an inbox holds.
            for count in [0, 1, 100] {
                let leaver = try await WebSocket.connect(to: "ws://\(address)\(path)", options: options)
                let stayer = try await WebSocket.connect(to: "ws://\(address)\(path)", options: options)
                for socket in [leaver, stayer] { for _ in 0..<count { try await socket.send("untaken") } }
                #expect(await leaver.close().isClean, "\(path) \(count)")
                staying.append(
                    Task {
                        for try await _ in stayer.messages {}
                        return await stayer.closeReport
                    }
                )
            }
        }
        running.cancel()
        try await running.value
        for task in staying {
            let report = try await task.value
            #expect(report.isClean && report.received?.code == .goingAway)
        }
        await loop.stop()
    }

    @Test("A request that is under way is answered, and its connection ends behind it")
    func underWay() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let running = try await start { server in
            server.get("/") { _ in
                begin.yield()
                // Not a wait that cancellation ends.
                await Task.detached { for await _ in released { break } }.value
                return "answered"
            }
        }
        let peer = try await RawPeer.connect(to: running.address)
        let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await peer.send(request + request)
        for await _ in begun { break }
        try await running.beginToStop()
        release.yield()
        let response = try await peer.readResponse()
        #expect(response.text == "answered")
        #expect(response["Connection"] == "close")
        #expect(try await peer.isAtEnd())
        await peer.close()
        try await running.end()
    }

    @Test("A request that its handler gives up because of the end is answered with 503")
    func givenUp() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        defer { gateKeeper.finish() }
        let running = try await start { server in
            server.get("/") { _ in
                begin.yield()
                for await _ in gate {}
                try Task.checkCancellation()
                return "not cancelled"
            }
        }
        let peer = try await RawPeer.connect(to: running.address)
        try await peer.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in begun { break }
        running.task.cancel()
        let response = try await peer.readResponse()
        #expect(response.status == 503)
        #expect(response["Connection"] == "close")
        await peer.close()
        try await running.end()
    }

    @Test("A request whose head is under way is answered when it comes whole")
    func midHead() async throws {
        let running = try await start { server in
            // Longer than a machine may take in between that has other things to do.
            server.limits.http.headTime = .seconds(60)
            server.get("/") { _ in "answered" }
        }
        let peer = try await RawPeer.connect(to: running.address)
        #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "answered")
        // Both lie in the server's buffer, and the answer to the first tells that the half is parsed.
        try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n")
        #expect(try await peer.readResponse().text == "answered")
        try await running.beginToStop()
        let response = try await peer.response(to: "Host: a\r\n\r\n")
        #expect(response.text == "answered")
        #expect(response["Connection"] == "close")
        await peer.close()
        try await running.end()
    }

    @Test("A WebSocket that is asked for while the server ends is refused with 503")
    func lateUpgrade() async throws {
        let running = try await start { server in
            server.get("/") { _ in "page" }
            server.webSocket("/socket") { _ in }
        }
        let peer = try await RawPeer.connect(to: running.address)
        let upgrade = RawPeer.upgradeRequest("/socket")
        try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + upgrade.prefix(20))
        #expect(try await peer.readResponse().text == "page")
        try await running.beginToStop()
        #expect(try await peer.response(to: String(upgrade.dropFirst(20))).status == 503)
        await peer.close()
        try await running.end()
    }

    @Test("A connection without a request is closed at once")
    func idle() async throws {
        let running = try await start { server in
            server.get("/") { _ in "page" }
        }
        let used = try await RawPeer.connect(to: running.address)
        #expect(try await used.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "page")
        running.task.cancel()
        #expect(try await used.isAtEnd())
        try await running.end()
    }

    @Test("What doesn't end in time is reset: a head that never comes whole, and a WebSocket that never answers")
    func deadline() async throws {
        let running = try await start { server in
            server.closeTimeout = .milliseconds(50)
            server.get("/") { _ in "page" }
            server.webSocket("/socket") { socket in for try await _ in socket.messages {} }
        }
        let half = try await RawPeer.connect(to: running.address)
        try await half.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /")
        #expect(try await half.readResponse().text == "page")
        let mute = try await RawPeer.openWebSocket(to: running.address, "/socket")
        running.task.cancel()
        try await running.end()
        #expect(await half.isOver())
        #expect(try await mute.readFrame().closeCode == 1_001)
        #expect(await mute.isOver())
    }

    @Test("Many requests on many connections are all answered, each handler being started when its request has come")
    func manyRequests() async throws {
        let running = try await start(loops: 2) { server in
            server.get("/:n") { request in request.parameters["n"] ?? "" }
        }
        let address = running.address
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in 0..<20 {
                group.addTask {
                    let peer = try await RawPeer.connect(to: address)
                    for number in 0..<30 {
                        let text = "\(connection)-\(number)"
                        #expect(try await peer.response(to: "GET /\(text) HTTP/1.1\r\nHost: a\r\n\r\n").text == text)
                    }
                }
            }
            try await group.waitForAll()
        }
        running.task.cancel()
        try await running.end()
    }

    @Test("A handler that outlives the server is named with its route, and left behind where the app wants that")
    func outliving() async throws {
        let group = try EventLoopGroup(loops: 1)
        let log = RecordedLog(from: .warning)
        let (gate, open) = AsyncStream<Never>.makeStream()
        let (addresses, tell) = AsyncStream<SocketAddress>.makeStream()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.allowedHosts = ["*"]
        server.eventLoops = group
        server.logger = log.logger
        server.closeTimeout = .milliseconds(20)
        server.leavesHandlersBehind = true
        server.get("/stubborn/:n") { _ in
            begin.yield()
            // A task of its own isn't cancelled with the handler.
            await Task { for await _ in gate {} }.value
            end.yield()
            return ""
        }
        let running = Task { [server] in try await server.run { tell.yield($0) } }
        var iterator = addresses.makeAsyncIterator()
        let peer = try await RawPeer.connect(to: try #require(await iterator.next()))
        try await peer.send("GET /stubborn/1 HTTP/1.1\r\nHost: a\r\n\r\n")
        for await _ in begun { break }
        running.cancel()
        // It returns although the handler is still at work.
        try await running.value
        let warning = try #require(log.entries.first { $0.message == "a handler outlives the server" })
        #expect(warning.metadata["route"] == "GET /stubborn/:n" && warning.metadata["count"] == "1")
        open.finish()
        for await _ in ended { break }
        await group.stop()
    }
}
