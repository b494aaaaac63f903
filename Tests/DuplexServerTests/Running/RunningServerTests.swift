// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Synchronization
import Testing

@testable import DuplexServer

@Suite struct RunningServerTests {
    private static let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static func server() -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = RecordedLog().logger
        server.get("/") { _ in "old" }
        return server
    }

    @Test("A server that is started tells its addresses, and serves until it is stopped")
    func start() async throws {
        let running = try await Self.server().start()
        let address = running.addresses[0]
        #expect(running.urls == ["http://localhost:\(address.port)/"])
        let peer = try await RawPeer.connect(to: address)
        #expect(try await peer.response(to: Self.request).text == "old")
        await running.stop()
        #expect(try await peer.isAtEnd())
        await running.waitUntilStopped()
        await #expect(throws: SocketError.self) { try await RawPeer.connect(to: address) }
    }

    /// Ways to end a server that runs.
    enum End: CaseIterable {
        case stopped, cancelled, failed
    }

    @Test("The beginning of its end is told once, whatever it ends by", arguments: End.allCases)
    func stopping(end: End) async throws {
        struct Failure: Error {}
        let (listening, tell) = AsyncStream<Void>.makeStream()
        let told = Atomic(0)
        let running = try RunningServer(Self.server()) { told.add(1, ordering: .relaxed) }
        let serving = Task {
            try await running.serve { _ in
                if end == .failed { throw Failure() }
            } _: {
                tell.yield()
            }
        }
        if end != .failed { _ = await listening.first { _ in true } }
        #expect(end == .failed || told.load(ordering: .relaxed) == 0)
        switch end {
        case .stopped: await running.stop()
        case .cancelled: serving.cancel()
        case .failed: break
        }
        let result = await serving.result
        #expect((try? result.get()) == nil ? end == .failed : end != .failed)
        await running.stop()
        #expect(told.load(ordering: .relaxed) == 1)
    }

    @Test("A server that is let go of ends")
    func letGo() async throws {
        var running: RunningServer? = try await Self.server().start()
        let peer = try await RawPeer.connect(to: try #require(running?.addresses[0]))
        #expect(try await peer.response(to: Self.request).text == "old")
        running = nil
        #expect(try await peer.isAtEnd())
    }

    @Test("Who waits for the end is told, and may be cancelled")
    func waiting() async throws {
        let running = try await Self.server().start()
        let cancelled = Task { await running.waitUntilStopped() }
        cancelled.cancel()
        await cancelled.value
        async let first: Void = running.waitUntilStopped()
        async let second: Void = running.waitUntilStopped()
        await running.stop()
        await first
        await second
    }

    @Test("Stopping with no time cuts what hangs, also when it is being stopped already", .timeLimit(minutes: 1))
    func hasten() async throws {
        let (started, tell) = AsyncStream<Void>.makeStream()
        let (ended, tellEnd) = AsyncStream<Void>.makeStream()
        var server = Self.server()
        server.closeTimeout = .seconds(3_600)
        server.leavesHandlersBehind = true
        server.get("/slow") { _ in
            tell.yield()
            // Its being cancelled changes nothing: only the client that has gone ends it.
            return Response { writer in
                do {
                    while true { try await writer.write(String(repeating: "x", count: 65_536)) }
                } catch {
                    tellEnd.yield()
                    throw error
                }
            }
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        try await peer.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in started { break }
        async let slowly: Void = running.stop()
        await running.stop(within: .zero)
        await slowly
        for await _ in ended { break }
        // What had come before the cut may be read, and then there is its end, which is no regular one.
        let rest = (try? await peer.readToEnd()) ?? []
        #expect(!rest.suffix(5).elementsEqual("0\r\n\r\n".utf8))
    }

    // MARK: Routes

    @Test("Routes that are replaced answer what comes then, and requests that were begun are answered by the old ones")
    func replacing() async throws {
        let (started, tell) = AsyncStream<Void>.makeStream()
        let (gate, open) = AsyncStream<Void>.makeStream()
        var server = Self.server()
        server.use(.after { $1.headers[.xContentTypeOptions] = "kept" })
        server.get("/slow") { _ in
            tell.yield()
            for await _ in gate { break }
            return "old and slow"
        }
        server.webSocket("/echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        let running = try await server.start()
        let address = running.addresses[0]
        let slow = try await RawPeer.connect(to: address)
        try await slow.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in started { break }
        let echo = try await RawPeer.openWebSocket(to: address, "/echo")
        let peer = try await RawPeer.connect(to: address)
        #expect(try await peer.response(to: Self.request).text == "old")

        try await running.replaceRoutes { routes in
            routes.get("/") { _ in "new" }
            routes.group("/more") { more in more.get("/") { _ in "more" } }
        }
        let response = try await peer.response(to: Self.request)
        #expect(response.text == "new" && response["X-Content-Type-Options"] == "kept")
        #expect(try await peer.response(to: "GET /more HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "more")
        #expect(try await peer.response(to: "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 404)
        open.yield()
        #expect(try await slow.readResponse().text == "old and slow")
        try await echo.send(.text("still here"))
        #expect(try await echo.readFrame().text == "still here")

        await #expect(throws: RouteError.self) {
            try await running.replaceRoutes { routes in
                for _ in 0..<2 { routes.get("/") { _ in "twice" } }
            }
        }
        #expect(try await peer.response(to: Self.request).text == "new")
        await echo.close()
        await running.stop()
    }

    @Test("Of routes that are replaced at the same time the same ones answer on all loops")
    func replacingAtOnce() async throws {
        let running = try await Self.server().start()
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<8 {
                    tasks.addTask {
                        try await running.replaceRoutes { routes in routes.get("/") { _ in "\(number)" } }
                    }
                }
                try await tasks.waitForAll()
            }
            var texts: Set<String> = []
            for _ in 0..<8 {
                let peer = try await RawPeer.connect(to: running.addresses[0])
                texts.insert(try await peer.response(to: Self.request).text)
                await peer.close()
            }
            #expect(texts.count == 1)
        }
        await running.stop()
    }

    @Test("A server on loopback answers for the hosts of the routes that there are now")
    func replacingHosts() async throws {
        func request(_ host: String) -> String { "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n" }
        var server = Self.server()
        server.host("old.example") { old in old.get("/") { _ in "old host" } }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        #expect(try await peer.response(to: request("old.example")).text == "old host")
        #expect(try await peer.response(to: request("new.example")).status == 421)
        try await running.replaceRoutes { routes in
            routes.host("new.example") { new in new.get("/") { _ in "new host" } }
        }
        #expect(try await peer.response(to: request("old.example")).status == 421)
        #expect(try await peer.response(to: request("new.example")).text == "new host")
        await running.stop()
    }

    /// One whose end takes until all others' has begun, too.
    private struct Slow: RequestObserver {
        let begun: AsyncStream<Void>.Continuation
        let all: Task<Void, Never>

        func ended(_ request: Request, _ outcome: RequestOutcome) {}

        func finish() async {
            begun.yield()
            await all.value
        }
    }

    @Test("Those who look on finish at the same time, however many routes have them", .timeLimit(minutes: 1))
    func finishing() async throws {
        let (begun, tell) = AsyncStream<Void>.makeStream()
        var server = Self.server()
        let all = Task {
            var left = 21
            for await _ in begun {
                left -= 1
                if left == 0 { return }
            }
        }
        server.routes = []
        server.use(.observed(by: Slow(begun: tell, all: all)))
        for number in 0..<20 { server.get("/\(number)") { _ in "" } }
        await (try await server.start()).stop()
    }

    @Test("No request is lost while routes are replaced again and again under load")
    func underLoad() async throws {
        let running = try await Self.server().start()
        let address = running.addresses[0]
        let answers = try await withThrowingTaskGroup(of: Set<String>.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask {
                    let peer = try await RawPeer.connect(to: address)
                    var texts: Set<String> = []
                    for _ in 0..<200 { texts.insert(try await peer.response(to: Self.request).text) }
                    return texts
                }
            }
            for number in 0..<50 {
                try await running.replaceRoutes { routes in routes.get("/") { _ in "number \(number)" } }
            }
            return try await tasks.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        #expect(answers.allSatisfy { $0 == "old" || $0.hasPrefix("number ") })
        #expect(await running.counts.requests == 800)
        await running.stop()
        #expect(await running.counts == ServerCounts(requests: 800))
    }
}
