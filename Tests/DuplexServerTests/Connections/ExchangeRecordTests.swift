// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// What goes past the handlers of routes, and through their steps all the same; `RequestOutcomeTests` has the rest.
@Suite("What is noted of a request on its way")
struct ExchangeRecordTests {
    private static let mark = HTTPField.Name("X-Mark")

    private static func server(_ log: OutcomeLog) throws -> (WebServer, HTTPField.Name) {
        let mark = try #require(Self.mark)
        var server = WebServer(port: 0)
        server.logger.logLevel = .critical
        server.use(.after { request, response in response.fields[mark] = "\(request.path)" }, log.option)
        return (server, mark)
    }

    @Test("A file is counted as it goes; one that has become shorter meanwhile is a 500 that goes through the steps")
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
            let response = Response(body: try .file(path))
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 0)
            return response
        }
        server.get("/shrinking") { _ in try shrink() }
        server.get("/shrinking/later") { _ async throws in try shrink() }
        try await WebServer.testing(server) { client async throws in
            for path in ["/file", "/later"] {
                #expect(try await client.get(path).body.count == 300_000)
                #expect(try await log.next().summary == "\(path) 200 0 300000")
            }
            for path in ["/shrinking", "/shrinking/later"] {
                let answer = try await client.get(path)
                #expect(answer.status == .internalServerError && answer.fields[mark] == path)
                let outcome = try await log.next().outcome
                #expect(outcome.route == path && outcome.status == .internalServerError && outcome.error != nil)
                #expect(outcome.sentBytes == answer.body.count && !outcome.isCut)
                try fill()
            }
        }
        #expect(await log.rest() == 0)
    }

    @Test("What couldn't be read is answered through the steps that see responses, and not through those in front")
    func unread() async throws {
        let log = OutcomeLog()
        var (server, mark) = try Self.server(log)
        server.use(.before { _ in throw Problem(.unauthorized, "No.") })
        server.use(.problems { _, problem in Response(status: problem.status, body: "mine") })
        try await WebServer.testing(server) { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "GET / HTTP/1.1\r\n\r\n")
            let answer = try await connection.response()
            #expect(answer.status == .badRequest && answer.text == "mine" && answer.fields[mark]?.isEmpty == true)
            #expect(try await log.next().outcome.status == .badRequest)
        }
    }

    @Test("A page of problems that has to be written by a task is left for one that hasn't")
    func unwritable() async throws {
        let log = OutcomeLog()
        var (server, _) = try Self.server(log)
        server.use(.problems { _, problem in Response(status: problem.status) { try await $0.write("mine") } })
        try await WebServer.testing(server) { client async throws in
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
        server.get("/") { _ in Response(status: .continue, body: "x") }
        try await WebServer.testing(server) { client async throws in
            await #expect(throws: (any Error).self) { try await client.get("/") }
            #expect(try await log.next().summary == "/ - 0 0 cut")
        }
        #expect(await log.rest() == 0)
    }
}
