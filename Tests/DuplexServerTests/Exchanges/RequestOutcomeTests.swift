// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

/// What became of requests, for a test to wait for.
final class OutcomeLog: Sendable {
    struct Entry: Sendable {
        let path: String
        let method: HTTPRequest.Method
        let outcome: RequestOutcome

        /// The route, the status, the bytes in and out, and whether it was cut.
        var summary: String {
            let status = outcome.status.map { "\($0.code)" } ?? "-"
            let cut = outcome.isIncomplete ? " cut" : ""
            return "\(outcome.route ?? "-") \(status) \(outcome.bytesReceived) \(outcome.bytesSent)\(cut)"
        }
    }

    private let entries: AsyncStream<Entry>
    private let continuation: AsyncStream<Entry>.Continuation

    init() {
        (entries, continuation) = AsyncStream<Entry>.makeStream()
    }

    var option: RouteOption {
        .completed { [continuation] request, outcome in
            continuation.yield(Entry(path: request.path, method: request.method, outcome: outcome))
        }
    }

    func next() async throws -> Entry {
        var iterator = entries.makeAsyncIterator()
        return try #require(await iterator.next())
    }

    /// How many there are that nobody has asked for.
    func rest() async -> Int {
        continuation.finish()
        return await entries.reduce(0) { count, _ in count + 1 }
    }
}

@Suite("What became of a request")
struct RequestOutcomeTests {
    private static func server(_ log: OutcomeLog) -> WebServer {
        var server = WebServer(port: 0)
        server.use(log.option)
        server.get("/now/:id") { _ in "four" }
        server.get("/later") { _ async in "later" }
        server.get("/large") { _ in Response(body: [UInt8](repeating: 1, count: 100_000)) }
        server.get("/empty") { _ in HTTPResponse.Status.noContent }
        server.get("/pieces") { _ in
            Response { writer in for piece in ["a", "bc"] { try await writer.write(piece) } }
        }
        server.get("/failing") { _ -> String in throw Failure() }
        server.get("/torn") { _ in
            Response { writer in
                try await writer.write("abc")
                throw Failure()
            }
        }
        server.post("/body", .bodySize(.bytes(10))) { request in "\(try await request.body.collect().count)" }
        server.webSocket("/socket") { _ in }
        return server
    }

    private struct Failure: Error {}

    @Test(
        "It has the route, the status and the bytes, however the response is made",
        arguments: [
            ("/now/7", "/now/:id 200 0 4"), ("/later", "/later 200 0 5"), ("/large", "/large 200 0 100000"),
            ("/empty", "/empty 204 0 0"), ("/pieces", "/pieces 200 0 3"), ("/nothing", "- 404 0 45"),
            ("/socket", "- 426 0 86"),
        ]
    )
    func answered(path: String, summary: String) async throws {
        let log = OutcomeLog()
        try await Self.server(log).test { client async throws in
            let answer = try await client.get(path)
            let entry = try await log.next()
            #expect(entry.path == path && entry.method == .get && entry.summary == summary)
            #expect(entry.outcome.bytesSent == answer.body.count)
            let head = try await client.request(.head, path)
            #expect(try await log.next().outcome.bytesSent == 0 && head.status == answer.status)
        }
        #expect(await log.rest() == 0)
    }

    @Test("A body that was taken is counted; one that is too long is refused by its route")
    func bodies() async throws {
        let log = OutcomeLog()
        try await Self.server(log).test { client async throws in
            #expect(try await client.post("/body", body: Array("abc".utf8)).text == "3")
            #expect(try await log.next().summary == "/body 200 3 1")
            let refused = try await client.post("/body", body: [UInt8](repeating: 1, count: 11))
            #expect(refused.status == .contentTooLarge)
            let entry = try await log.next()
            #expect(entry.outcome.route == "/body" && entry.outcome.status == .contentTooLarge)
        }
        #expect(await log.rest() == 0)
    }

    @Test("What a handler fails with is told; a body that fails is cut")
    func failures() async throws {
        let log = OutcomeLog()
        var server = Self.server(log)
        server.logger.logLevel = .critical
        try await server.test { client async throws in
            #expect(try await client.get("/failing").status == .internalServerError)
            let failed = try await log.next()
            #expect(failed.outcome.error is Failure && failed.outcome.status == .internalServerError)
            #expect(!failed.outcome.isIncomplete)
            await #expect(throws: (any Error).self) { try await client.get("/torn") }
            let torn = try await log.next()
            #expect(torn.summary == "/torn 200 0 3 cut" && torn.outcome.error is Failure)
        }
        #expect(await log.rest() == 0)
    }

    @Test("A head that can't be read is a GET of nothing; a host that is none of the server's is seen, too")
    func unread() async throws {
        let log = OutcomeLog()
        try await Self.server(log).test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(String(decoding: try await connection.receiveAll(), as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
            let unread = try await log.next()
            #expect(unread.path.isEmpty && unread.outcome.status == .badRequest && unread.outcome.route == nil)
            #expect(unread.outcome.bytesSent > 0 && !unread.outcome.isIncomplete)
            client.host = "other"
            #expect(try await client.get("/now/1").status == .misdirectedRequest)
            #expect(try await log.next().outcome.status == .misdirectedRequest)
        }
        #expect(await log.rest() == 0)
    }

    @Test("A WebSocket is told of when it opens, and when it is refused")
    func webSockets() async throws {
        let log = OutcomeLog()
        var server = Self.server(log)
        server.webSocket("/closed") { _ in
            Admission.refused(.forbidden, "No.")
        } handler: { _, _ in
        }
        try await server.test { client async throws in
            let socket = try await client.webSocket("/socket")
            #expect(try await log.next().summary == "/socket 101 0 0")
            await socket.close()
            await #expect(throws: WebSocketError.self) { try await client.webSocket("/closed") }
            let refused = try await log.next().outcome
            #expect(refused.route == "/closed" && refused.status == .forbidden && refused.bytesSent > 0)
        }
        #expect(await log.rest() == 0)
    }

    @Test("A client that goes before its response is told of without a status, once")
    func gone() async throws {
        let log = OutcomeLog()
        var server = Self.server(log)
        let (started, continuation) = AsyncStream<Void>.makeStream()
        server.get("/never") { _ async throws in
            continuation.yield()
            let (never, end) = AsyncStream<Never>.makeStream()
            defer { end.finish() }
            for await _ in never {}
            return ""
        }
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(.get, "/never")
            for await _ in started { break }
            await connection.reset()
            #expect(try await log.next().summary == "/never - 0 0 cut")
        }
        #expect(await log.rest() == 0)
    }

    @Test("The time is that of the connection's clock, up to the last byte")
    func duration() async throws {
        let log = OutcomeLog()
        var server = Self.server(log)
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let (go, goOn) = AsyncStream<Void>.makeStream()
        server.get("/slow") { _ in
            Response { writer in
                continuation.yield()
                for await _ in go { break }
                try await writer.write("x")
            }
        }
        try await server.test { client async throws in
            async let answer = client.get("/slow")
            for await _ in started { break }
            await client.clock.advance(by: .seconds(3))
            goOn.yield()
            #expect(try await answer.text == "x")
            #expect(try await log.next().outcome.duration == .seconds(3))
        }
    }
}

@Suite(.timeLimit(minutes: 1)) struct RequestProgressTests {
    /// Asks until the one connection is as far; ends by the suite's limit of time, if it never is.
    private static func progress(
        of running: RunningServer,
        where isReached: (RequestProgress) -> Bool
    ) async throws -> RequestProgress {
        while true {
            if let request = await running.connections.first?.request, isReached(request) { return request }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("How much of a body has come is told, who sends it, and nothing between two requests")
    func upload() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.use(.completed { _, _ in })
        server.use(.basicAuth(realm: "tests", accounts: ["ann": "secret"]))
        server.put("/up") { request in
            for try await _ in request.body {}
            return "ok"
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        #expect(await running.connections.allSatisfy { $0.request == nil })
        try await peer.send(
            "PUT /up HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\nContent-Length: 10\r\n\r\n1234"
        )
        let request = try await Self.progress(of: running) { $0.bytesReceived == 4 && $0.user != nil }
        #expect(request.method == .put && request.path == "/up" && request.user == "ann")
        #expect(request.requestLength == 10 && request.bytesSent == 0 && request.responseLength == nil)
        #expect(request.duration >= .zero)
        #expect(try await peer.response(to: "567890").text == "ok")
        #expect(await running.connections.allSatisfy { $0.request == nil })
        await running.stop(within: .zero)
    }

    @Test("How much of a file has gone is told while the client takes it")
    func download() async throws {
        try await withTestFolder(["long": ""]) { folder in
            let size = 64 << 20
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder + "long"))
            try file.truncate(atOffset: UInt64(size))
            try file.close()
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.use(.completed { _, _ in })
            server.files("/", folder: folder)
            let running = try await server.start()
            let peer = try await RawPeer.connect(to: running.addresses[0])
            try await peer.send("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let request = try await Self.progress(of: running) { $0.bytesSent > 0 }
            // What the client doesn't take waits: not all of it can have gone.
            #expect(request.bytesSent < size && request.responseLength == size && request.bytesReceived == 0)
            await running.stop(within: .zero)
        }
    }

    @Test("Nothing is told where nothing counts")
    func uncounted() async throws {
        let (started, tell) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Never>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in
            tell.yield()
            for await _ in ends {}
            return "ok"
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        try await peer.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in started { break }
        #expect(await running.connections.map(\.route) == ["GET /"])
        #expect(await running.connections.allSatisfy { $0.request == nil })
        end.finish()
        await running.stop()
    }
}
