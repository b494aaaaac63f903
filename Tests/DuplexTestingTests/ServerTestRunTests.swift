// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTesting

@Suite("How the test of a server ends")
struct ServerTestRunTests {
    private static func server(_ configure: (inout WebServer) -> Void = { _ in }) -> WebServer {
        var server = WebServer(port: 0)
        server.logger = RecordedLog().logger
        configure(&server)
        return server
    }

    private struct Failure: Error {}

    @Test("What the closure returns is returned, and what it throws is thrown")
    func outcome() async throws {
        #expect(try await Self.server().test { _ in 7 } == 7)
        await #expect(throws: Failure.self) {
            try await Self.server().test { _ in throw Failure() }
        }
    }

    @Test("Routes that contradict each other are an error before the test begins")
    func routes() async throws {
        let server = Self.server { server in
            server.get("/") { _ in "" }
            server.get("/") { _ in "" }
        }
        await #expect(throws: RouteError.self) {
            try await server.test { _ in Issue.record("It was begun.") }
        }
    }

    @Test("WebSockets are closed with 1001, and handlers of all kinds are cancelled")
    func orderly() async throws {
        let ended = Numbering()
        let server = Self.server { server in
            server.webSocket("/reading") { socket in
                defer { ended.next() }
                for try await _ in socket.messages {}
            }
            server.webSocket("/waiting") { _ in
                defer { ended.next() }
                let (never, continuation) = AsyncStream<Never>.makeStream()
                defer { continuation.finish() }
                for await _ in never {}
            }
        }
        let sockets = try await server.test { client in
            [try await client.webSocket("/reading"), try await client.webSocket("/waiting")]
        }
        for socket in sockets {
            let report = await socket.closeReport
            #expect(report.isClean && report.received?.code == .goingAway)
        }
        #expect(ended.count == 2)
    }

    @Test("A drain takes its time by the clock, and a client that doesn't answer is cut behind closeTimeout")
    func drain() async throws {
        let server = Self.server { server in
            server.drain = Drain(code: .serviceRestart, over: .seconds(600))
            server.webSockets.pings = .disabled
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        }
        let (loop, sockets) = try await server.test { client in
            var options = WebSocketOptions()
            options.pings = .disabled
            let sockets = [
                try await client.webSocket("/", options: options), try await client.webSocket("/", options: options),
            ]
            client.faults = .stall(in: .toServer)
            return (client.loop, sockets)
        }
        #expect(loop.elapsed == .seconds(615))
        for socket in sockets { #expect(await socket.closeReport.received?.code == .serviceRestart) }
    }

    @Test("A test whose task is cancelled ends in the same order")
    func cancelled() async throws {
        let server = Self.server { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        }
        let (opened, open) = AsyncStream<WebSocket>.makeStream()
        let test = Task {
            try await server.test { client in
                let socket = try await client.webSocket("/")
                open.yield(socket)
                _ = try await socket.receive()
            }
        }
        for await socket in opened {
            test.cancel()
            await #expect(throws: CancellationError.self) { try await test.value }
            #expect(await socket.closeReport.received?.code == .goingAway)
            break
        }
    }

    @Test("Handlers that don't end are named, in the error and in the log")
    func handlersLeft() async throws {
        let log = RecordedLog(from: .warning)
        let (gate, open) = AsyncStream<Never>.makeStream()
        let server = Self.server { server in
            server.logger = log.logger
            server.get("/stubborn/:n") { _ in
                // A task of its own isn't cancelled with the handler.
                await Task { for await _ in gate {} }.value
                return ""
            }
        }
        let error = await #expect(throws: TestingError.self) {
            try await server.test(within: .limit(seconds: 60), patience: .milliseconds(1)) { client in
                let connection = await client.connect()
                try await connection.send(.get, "/stubborn/1")
                await client.loop.settle()
            }
        }
        #expect(error?.code == .handlersLeft && error?.routes == ["GET /stubborn/:n"])
        #expect(log.entries.contains { $0.message == "a handler outlives the server" })
        open.finish()
    }

    @Test("A server that leaves handlers behind is tested without waiting for them")
    func leavingBehind() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let server = Self.server { server in
            server.leavesHandlersBehind = true
            server.get("/") { _ in
                await Task { for await _ in gate {} }.value
                return ""
            }
        }
        try await server.test { client in
            let connection = await client.connect()
            try await connection.send(.get, "/")
            await client.loop.settle()
        }
        open.finish()
    }

    @Test("A test that waits for what never comes is cut off, and told which handlers were at work")
    func outOfTime() async throws {
        let server = Self.server { server in
            server.get("/slow") { _ in
                let (never, continuation) = AsyncStream<Never>.makeStream()
                defer { continuation.finish() }
                for await _ in never {}
                return "cancelled"
            }
        }
        let error = await #expect(throws: TestingError.self) {
            try await server.test(within: .milliseconds(50)) { client in
                let connection = await client.connect()
                _ = try await connection.get("/slow")
            }
        }
        #expect(error?.code == .outOfTime)
        // On a busy machine its time may be over before the handler has begun.
        #expect(error?.routes == ["GET /slow"] || error?.routes == [])
    }
}
