// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// What goes past the handlers of routes, and through their middleware all the same; `RequestOutcomeTests` has the rest.
@Suite("What is noted of a request on its way")
struct ExchangeRecordTests {
    private static let mark = HTTPField.Name("X-Mark")

    private static func server(_ log: OutcomeLog) throws -> (WebServer, HTTPField.Name) {
        let mark = try #require(Self.mark)
        var server = WebServer(port: 0)
        server.logger.logLevel = .critical
        server.use(.after { request, response in response.headers[mark] = "\(request.path)" }, log.option)
        return (server, mark)
    }

    @Test(
        "A file is counted as it goes; one that has become shorter meanwhile is a 500 that goes through the middleware"
    )
    func files() async throws {
        let path = NSTemporaryDirectory() + "duplex-record-\(UUID().uuidString)"
        func fill() throws { try Data(repeating: 7, count: 300_000).write(to: URL(fileURLWithPath: path)) }
        try fill()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let log = OutcomeLog()
        var (server, mark) = try Self.server(log)
        server.get("/file") { _ in Response(body: try .file(path)) }
        server.get("/later") { _ async throws in Response(body: try .file(path)) }
        @Sendable func shrink() throws -> Response {
            let response = Response(headers: [.eTag: "\"a\""], body: try .file(path))
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 0)
            return response
        }
        server.get("/shrinking") { _ in try shrink() }
        server.get("/shrinking/later") { _ async throws in try shrink() }
        try await server.test { client async throws in
            for path in ["/file", "/later"] {
                #expect(try await client.get(path).body.count == 300_000)
                #expect(try await log.next().summary == "\(path) 200 0 300000")
            }
            // What the client has is what it asks about, whatever has become of the file.
            let unchanged = try await client.get("/shrinking", headers: [.ifNoneMatch: "\"a\""])
            #expect(unchanged.status == .notModified)
            #expect(try await log.next().summary == "/shrinking 304 0 0")
            try fill()
            for path in ["/shrinking", "/shrinking/later"] {
                let answer = try await client.get(path)
                #expect(answer.status == .internalServerError && answer.headers[mark] == path)
                let outcome = try await log.next().outcome
                #expect(outcome.route == path && outcome.status == .internalServerError && outcome.error != nil)
                #expect(outcome.bytesSent == answer.body.count && !outcome.isIncomplete)
                try fill()
            }
        }
        #expect(await log.rest() == 0)
    }

    @Test("What couldn't be read is answered through the middleware that sees responses, and not through that in front")
    func unread() async throws {
        let log = OutcomeLog()
        var (server, mark) = try Self.server(log)
        server.use(.before { _ in throw Problem(.unauthorized, "No.") })
        server.use(.problems { _, problem in Response(problem.status, body: "mine") })
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "GET / HTTP/1.1\r\n\r\n")
            let answer = try await connection.response()
            #expect(answer.status == .badRequest && answer.text == "mine" && answer.headers[mark]?.isEmpty == true)
            #expect(try await log.next().outcome.status == .badRequest)
        }
    }

    @Test("A page of problems that has to be written by a task is left for one that hasn't")
    func unwritable() async throws {
        let log = OutcomeLog()
        var (server, _) = try Self.server(log)
        server.use(.problems { _, problem in Response(problem.status) { try await $0.write("mine") } })
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "GET / HTTP/1.1\r\n\r\n")
            let answer = try await connection.response()
            #expect(answer.status == .badRequest && answer.text.hasPrefix("400 Bad Request\n"))
        }
    }

    @Test("A response that can't be sent has no status")
    func unsendable() async throws {
        let log = OutcomeLog()
        var (server, _) = try Self.server(log)
        server.get("/") { _ in Response(.continue, body: "x") }
        try await server.test { client async throws in
            await #expect(throws: (any Error).self) { try await client.get("/") }
            #expect(try await log.next().summary == "/ - 0 0 cut")
        }
        #expect(await log.rest() == 0)
    }
}

@Suite("How long a handler may take")
struct TimeLimitTests {
    /// Waits until it is told to go on, and notes that it has begun, and how it went on.
    private final class Gate: Sendable {
        let events: AsyncStream<String>
        private let notes: AsyncStream<String>.Continuation
        private let gates: AsyncStream<Void>
        private let opener: AsyncStream<Void>.Continuation

        init() {
            (events, notes) = AsyncStream<String>.makeStream()
            (gates, opener) = AsyncStream<Void>.makeStream()
        }

        func wait() async throws {
            notes.yield("began")
            var gates = gates.makeAsyncIterator()
            _ = await gates.next()
            notes.yield(Task.isCancelled ? "cancelled" : "went on")
            try Task.checkCancellation()
        }

        func open() { opener.yield() }

        func event() async -> String? {
            var events = events.makeAsyncIterator()
            return await events.next()
        }
    }

    private func testing(_ body: (TestClient, Gate, OutcomeLog) async throws -> Void) async throws {
        let (gate, log) = (Gate(), OutcomeLog())
        var server = WebServer(port: 0)
        server.use(.timeLimit(.seconds(5)), log.option)
        server.get("/") { _ async throws in
            try await gate.wait()
            return "done"
        }
        server.get("/pieces") { _ in
            Response { writer in
                try await gate.wait()
                try await writer.write("done")
            }
        }
        server.get("/patient", .timeLimit(.seconds(3_600))) { _ async throws in
            try await gate.wait()
            return "done"
        }
        server.post("/body") { request in "\(try await request.body.collect().count)" }
        server.webSocket("/socket") { _ in
            try await gate.wait()
            return Admission.accepted
        } handler: { _, _ in
        }
        try await server.test { client async throws in try await body(client, gate, log) }
        #expect(await log.rest() == 0)
    }

    @Test("A handler that takes longer is cancelled, and its client gets 503 and the end of the connection")
    func late() async throws {
        try await testing { client, gate, log async throws in
            let connection = await client.connect()
            try await connection.send(.get, "/")
            #expect(await gate.event() == "began")
            await client.clock.advance(by: .milliseconds(4_900))
            await client.clock.advance(by: .milliseconds(200))
            let answer = try await connection.response()
            #expect(answer.status == .serviceUnavailable && answer.headers[.connection] == "close")
            #expect(await gate.event() == "cancelled")
            #expect(try await connection.receiveAll().isEmpty)
            let outcome = try await log.next().outcome
            #expect(outcome.status == .serviceUnavailable && outcome.route == "/" && !outcome.isIncomplete)
            #expect(outcome.duration >= .seconds(5) && outcome.duration < .milliseconds(5_200))
        }
    }

    @Test("What it answers too late goes through no middleware: that has seen the answer in its place")
    func lateSteps() async throws {
        let gate = Gate()
        let seen = Mutex<[Int]>([])
        var server = WebServer(port: 0)
        server.use(.after { _, response in seen.withLock { $0.append(response.status.code) } })
        server.get("/", .timeLimit(.seconds(5))) { _ async in
            _ = try? await gate.wait()
            return "late"
        }
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(.get, "/")
            #expect(await gate.event() == "began")
            await client.clock.advance(by: .milliseconds(5_100))
            #expect(try await connection.response().status == .serviceUnavailable)
            #expect(await gate.event() == "cancelled")
            #expect(try await client.get("/nothing").status == .notFound)
        }
        #expect(seen.withLock { $0 } == [503, 404])
    }

    @Test("One that answers in time isn't disturbed, nor is the next request of the connection")
    func inTime() async throws {
        try await testing { client, gate, log async throws in
            let connection = await client.connect()
            for _ in 0..<3 {
                try await connection.send(.get, "/")
                #expect(await gate.event() == "began")
                await client.clock.advance(by: .seconds(4))
                gate.open()
                #expect(try await connection.response().text == "done")
                #expect(await gate.event() == "went on")
                #expect(try await log.next().summary == "/ 200 0 4")
            }
        }
    }

    @Test("A body that is written for longer may, and a route may have more time", arguments: ["/pieces", "/patient"])
    func longer(path: String) async throws {
        try await testing { client, gate, log async throws in
            let connection = await client.connect()
            try await connection.send(.get, path)
            #expect(await gate.event() == "began")
            await client.clock.advance(by: .seconds(30))
            gate.open()
            #expect(try await connection.response().text == "done")
            #expect(try await log.next().outcome.status == .ok)
        }
    }

    @Test("A body that doesn't come counts, too")
    func body() async throws {
        try await testing { client, _, log async throws in
            let connection = await client.connect()
            try await connection.begin(.post, "/body", headers: [.contentLength: "10"])
            await client.clock.advance(by: .milliseconds(5_100))
            #expect(try await connection.response().status == .serviceUnavailable)
            #expect(try await log.next().summary.hasPrefix("/body 503 0 "))
        }
    }

    @Test("A WebSocket that isn't decided on in time is refused with 503")
    func webSocket() async throws {
        try await testing { client, gate, log async throws in
            let attempt = Task { try await client.webSocket("/socket") }
            #expect(await gate.event() == "began")
            await client.clock.advance(by: .milliseconds(5_100))
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.status == .serviceUnavailable)
            #expect(await gate.event() == "cancelled")
            #expect(try await log.next().outcome.route == "/socket")
        }
    }
}
