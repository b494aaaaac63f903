// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@Suite("Middleware as a type")
struct MiddlewareTests {
    /// Notes the way of requests in a field of the response.
    private struct Tag: Middleware {
        let name: String

        func handle(_ request: Request, next: NextHandler) async throws -> Response {
            var response = try await next(request)
            response.headers.append(HTTPField(name: .via, value: name))
            return response
        }
    }

    /// Counts requests, and answers those that it refuses.
    private final class Gate: Middleware {
        private let count = Mutex(0)

        var seen: Int { count.withLock { $0 } }

        func handle(_ request: Request, next: NextHandler) async throws -> Response {
            count.withLock { $0 += 1 }
            switch request.head.query {
            case "refuse": return Response(.forbidden)
            case "throw": throw Problem(.conflict, "No.")
            default: return try await next(request)
            }
        }
    }

    /// Adds routes with middleware to a server or to a group.
    private static func addRoutes(to routes: inout some RouteBuilder, _ gate: Gate) {
        routes.use(gate, Tag(name: "outer"))
        routes.use(.after { _, response in response.headers[.server] = "after" })
        routes.get("/page", .middleware(Tag(name: "inner"))) { _ in "handler" }
        routes.webSocket("/socket") { socket in try await socket.send("hi") }
    }

    private static func check(_ client: TestClient, _ prefix: String, _ gate: Gate) async throws {
        let response = try await client.get(prefix + "/page")
        #expect(response.text == "handler" && response.headers[.server] == "after")
        #expect(response.headers[values: .via] == ["inner", "outer"])
        let refused = try await client.get(prefix + "/page?refuse")
        #expect(refused.status == .forbidden && refused.headers[values: .via] == [])
        #expect(try await client.get(prefix + "/page?throw").status == .conflict)
        let socket = try await client.webSocket(prefix + "/socket")
        #expect(try await socket.receive() == .text("hi"))
        await socket.close()
        #expect(gate.seen == 4)
    }

    @Test("It runs around routes and WebSockets of a server, and for what no route answers")
    func server() async throws {
        let gate = Gate()
        var server = WebServer(port: 0)
        Self.addRoutes(to: &server, gate)
        try await server.test { client async throws in
            try await Self.check(client, "", gate)
            let missing = try await client.get("/nothing")
            #expect(missing.status == .notFound && gate.seen == 5)
            // The server answers by throwing a problem, which no middleware here catches.
            #expect(missing.headers[values: .via] == [])
        }
    }

    @Test("It runs around those of a group, and no others")
    func group() async throws {
        let gate = Gate()
        var server = WebServer(port: 0)
        server.group("/group") { group in Self.addRoutes(to: &group, gate) }
        server.get("/other") { _ in "other" }
        try await server.test { client async throws in
            try await Self.check(client, "/group", gate)
            #expect(try await client.get("/other").headers[values: .via] == [])
            #expect(gate.seen == 4)
        }
    }
}
