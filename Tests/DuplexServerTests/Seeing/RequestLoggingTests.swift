// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging
import Testing

@testable import DuplexServer

@Suite("Loggers of requests")
struct RequestLoggingTests {
    private func server(_ log: RecordedLog) -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = log.logger
        server.get("/users/:id") { request in
            request.logger.info("looked up", metadata: ["user": "\(request.parameters["id"] ?? "")"])
            return request[RequestID.self] ?? ""
        }
        return server
    }

    @Test("A handler's lines have the request's id, its route and what they say themselves")
    func metadata() async throws {
        let log = RecordedLog()
        var server = server(log)
        server.use(.requestID())
        server.post("/orders") { request in
            request.logger.notice("sold")
            return HTTPResponse.Status.noContent
        }
        try await server.test { client async throws in
            let id = try await client.get("/users/7").text
            #expect(id.utf8.count == 32)
            #expect(try await client.post("/orders").status == .noContent)
            let lines = log.entries.filter { ["looked up", "sold"].contains($0.message) }
            #expect(lines.map(\.level) == [.info, .notice])
            #expect(lines.first?.metadata == ["request_id": id, "route": "GET /users/:id", "user": "7"])
            #expect(lines.last?.metadata["route"] == "POST /orders")
            #expect(lines.last?.metadata["request_id"]?.utf8.count == 32)
        }
    }

    @Test("Without ids there is the route alone, also of WebSockets and of what a closure picks, or nothing")
    func routes() async throws {
        let log = RecordedLog()
        var server = server(log)
        server.use(
            .before { request in
                request.logger.debug("seen")
                return nil
            }
        )
        server.webSocket("/chat/:room") { socket, request in
            request.logger.info("joined")
            try await socket.send("hello")
        }
        server.match("scripts") {
            $0.path.hasSuffix(".cgi")
        } handler: { _ in
            HTTPResponse.Status.gone
        }
        try await server.test { client async throws in
            _ = try await client.get("/users/7")
            #expect(try await client.get("/a.cgi").status == .gone)
            #expect(try await client.get("/nothing").status == .notFound)
            let socket = try await client.webSocket("/chat/1")
            #expect(try await socket.receive() == .text("hello"))
            await socket.close()
            let seen = log.entries.filter { $0.message == "seen" }.map { $0.metadata["route"] }
            #expect(seen == ["GET /users/:id", "scripts", nil, "WebSocket /chat/:room"])
            let joined = log.entries.filter { $0.message == "joined" }.map(\.metadata)
            #expect(joined == [["route": "WebSocket /chat/:room"]])
        }
    }

    @Test("Routes that were replaced have their new names")
    func replaced() async throws {
        let log = RecordedLog()
        let running = try await server(log).start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        let request = "GET /users/7 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        #expect(try await peer.response(to: request).status == 200)
        try await running.replaceRoutes { routes in
            routes.get("/users/*") { request in
                request.logger.info("looked up")
                return ""
            }
        }
        #expect(try await peer.response(to: request).status == 200)
        await running.stop(within: .zero)
        let lines = log.entries.filter { $0.message == "looked up" }
        #expect(lines.map { $0.metadata["route"] } == ["GET /users/:id", "GET /users/*"])
    }

    @Test("A request that a test makes has a logger, too, and so has one that couldn't be read")
    func handMade() throws {
        let head = try RequestHead(method: .get, target: "/", headers: [.init("Host") ?? .accept: "a"])
        for head in [head, .unread] {
            let request = Request(head: head, connection: Request.Connection(remoteAddress: nil, tls: nil))
            request[RequestID.self] = "7"
            #expect(request.logger.label == "duplex.server" && request.logger[metadataKey: "request_id"] == "7")
            #expect(request.logger[metadataKey: "route"] == nil)
        }
    }
}
