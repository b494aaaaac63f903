// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// A handler that keeps its loop from everything else is named, whatever kind of handler it is.
@Suite(.serialized) struct ServerLoopBlockingTests {
    /// Blocks the thread by the clock of the machine.
    private static func block(for duration: Duration = .milliseconds(60)) {
        let end = Instant.now().advanced(by: duration)
        while Instant.now() < end {}
    }

    private struct Blocking: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            ServerLoopBlockingTests.block()
            socket.enqueue(bytes, kind)
        }
    }

    private struct BlockingAtTheEnd: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}

        func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
            ServerLoopBlockingTests.block()
        }
    }

    @Sendable private static func admit(_ request: Request) -> Admission<Void> {
        block()
        return .accepted
    }

    private static func addRoutes(to server: inout WebServer) {
        server.get("/") { _ in "fast" }
        server.get("/sync/:n") { _ in
            block()
            return "done"
        }
        server.get("/async") { _ in
            await Task.yield()
            block()
            return "done"
        }
        server.post("/body") { request in
            let body = try await request.body.collect()
            block()
            return "\(body.count)"
        }
        server.get("/writer") { _ in
            Response { writer in
                block()
                try await writer.write("done")
            }
        }
        server.webSocket("/handler", handler: Blocking())
        server.webSocket("/end", handler: BlockingAtTheEnd())
        server.webSocket("/task") { socket in
            for try await message in socket.messages {
                block()
                try await socket.send(message)
            }
        }
        server.webSocket("/late") { socket in
            for try await _ in socket.messages {}
            block()
        }
        server.webSocket("/admission", admit: admit) { socket, _ in try await socket.send("open") }
    }

    /// The routes that were named while the body ran.
    private func named(
        threshold: Duration? = .milliseconds(30),
        _ body: @escaping @Sendable (SocketAddress) async throws -> Void
    ) async throws -> [RecordedLog.Entry] {
        let log = RecordedLog(from: .warning)
        let group = try EventLoopGroup(loops: 1)
        try await withServer { server in
            server.logger = log.logger
            server.eventLoops = group
            server.blockedLoopThreshold = threshold
            Self.addRoutes(to: &server)
        } _: {
            try await body($0)
        }
        await group.stop()
        return log.entries
    }

    @Test(
        "A request's handler is named with its route",
        arguments: [
            ("GET /sync/1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /sync/:n"),
            ("GET /sync/2 HTTP/1.0\r\n\r\n", "GET /sync/:n"),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /sync/1 HTTP/1.0\r\n\r\n", "GET /sync/:n"),
            ("GET /async HTTP/1.1\r\nHost: a\r\n\r\n", "GET /async"),
            ("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", "POST /body"),
            ("GET /writer HTTP/1.1\r\nHost: a\r\n\r\n", "GET /writer"),
        ]
    )
    func requests(request: String, route: String) async throws {
        let entries = try await named { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(request)
            var response = try await peer.readResponse()
            // The first of two requests is for a handler that doesn't block.
            if response.text == "fast" { response = try await peer.readResponse() }
            #expect(response.status == 200)
            await peer.close()
        }
        let entry = try #require(entries.first { $0.metadata["route"] == route })
        #expect(entry.level == .warning && entry.message == "a handler has blocked its loop")
        #expect(entry.metadata["took"] != nil)
    }

    @Test("A handler of WebSockets is named with its route", arguments: ["/handler", "/task", "/admission"])
    func webSockets(path: String) async throws {
        let entries = try await named { address in
            let peer = try await RawPeer.openWebSocket(to: address, path)
            if path != "/admission" { try await peer.send(.text("hi")) }
            _ = try await peer.readFrame()
            await peer.close()
        }
        #expect(entries.contains { $0.metadata["route"] == "WebSocket \(path)" })
    }

    @Test("It is named also when its connection has ended", arguments: ["/end", "/late"])
    func ended(path: String) async throws {
        let entries = try await named { address in
            let peer = try await RawPeer.openWebSocket(to: address, path)
            try await peer.send(.close(1_000))
            #expect(try await peer.readFrame().closeCode == 1_000)
            #expect(try await peer.isAtEnd())
            await peer.close()
        }
        #expect(entries.contains { $0.metadata["route"] == "WebSocket \(path)" })
    }

    @Test("A handler that goes on behind a change of the routes is named with the route that it was begun for")
    func replaced() async throws {
        let (asks, ask) = AsyncStream<Void>.makeStream()
        let (gate, keeper) = AsyncStream<Never>.makeStream()
        let log = RecordedLog(from: .warning)
        let group = try EventLoopGroup(loops: 1)
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = log.logger
        server.eventLoops = group
        server.blockedLoopThreshold = .milliseconds(30)
        server.get("/gate") { _ in
            ask.yield()
            for await _ in gate {}
            Self.block()
            return "done"
        }
        Self.addRoutes(to: &server)
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        let sockets = try await [
            RawPeer.openWebSocket(to: running.addresses[0], "/task"),
            RawPeer.openWebSocket(to: running.addresses[0], "/handler"),
        ]
        try await peer.send("GET /gate HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = await asks.first { _ in true }
        for number in 0..<2 { try await running.replaceRoutes { $0.get("/\(number)") { _ in "new" } } }
        keeper.finish()
        #expect(try await peer.readResponse().text == "done")
        for socket in sockets {
            try await socket.send(.text("hi"))
            _ = try await socket.readFrame()
            await socket.close()
        }
        await running.stop()
        await group.stop()
        let names = ["GET /gate", "WebSocket /task", "WebSocket /handler"]
        for name in names { #expect(log.entries.contains { $0.metadata["route"] == "\(name)" }, "\(name)") }
    }

    @Test("By default the warning comes from 100 ms on")
    func byDefault() async throws {
        let threshold = WebServer(port: 0).blockedLoopThreshold
        #expect(threshold == .milliseconds(100))
        let log = RecordedLog(from: .warning)
        try await withServer { server in
            server.logger = log.logger
            server.get("/long") { _ in
                Self.block(for: .milliseconds(150))
                return "done"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET /long HTTP/1.1\r\nHost: a\r\n\r\n").text == "done")
            await peer.close()
        }
        #expect(log.entries.contains { $0.metadata["route"] == "GET /long" })
    }

    @Test("Nobody is named below the threshold, or without one", arguments: [.seconds(3_600), nil] as [Duration?])
    func none(threshold: Duration?) async throws {
        let entries = try await named(threshold: threshold) { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET /sync/1 HTTP/1.1\r\nHost: a\r\n\r\n").text == "done")
            await peer.close()
        }
        #expect(entries.isEmpty)
    }

    @Test("A task that is no handler of the server's is told apart")
    func noHandler() async throws {
        let log = RecordedLog(from: .warning)
        let group = try EventLoopGroup(loops: 1)
        try await withServer { server in
            server.logger = log.logger
            server.eventLoops = group
            server.blockedLoopThreshold = .milliseconds(30)
        } _: { _ in
            await Task(executorPreference: group.next()) { Self.block() }.value
            // The step has ended when the loop comes to the next task.
            await Task(executorPreference: group.next()) {}.value
        }
        await group.stop()
        let entry = try #require(log.entries.first { $0.metadata["route"] == nil })
        #expect(entry.message == "a task that is no handler has blocked a loop")
    }
}
