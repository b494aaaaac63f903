// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import HTTPTypes
import Testing

@Suite struct RouteBuilderTests {
    private static func configure(_ server: inout WebServer) {
        server.get("/page") { _ in "the page" }
        server.on(.post, "/page") { request in "posted \(try await request.body.collect().count)" }
        server.get("/users/:id") { request in "user \(request.parameters["id"] ?? "-")" }
        server.on(.put, "/users/:name") { request in "put \(request.parameters["name"] ?? "-")" }
        server.on(.delete, "/only-delete") { _ in Response(.noContent) }
        server.webSocket("/socket") { _ in }
        server.get("/both") { _ in "a page" }
        server.webSocket("/both") { _ in }
    }

    private func response(_ line: String, headers: String = "") async throws -> RawResponse {
        try await withServer(Self.configure) { address in
            let peer = try await RawPeer.connect(to: address)
            return try await peer.response(to: "\(line) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
        }
    }

    @Test(
        "A request gets to the handler of its method and path",
        arguments: [
            ("GET /page", "the page"), ("GET /page?query=1", "the page"), ("POST /page", "posted 0"),
            ("GET http://localhost/page", "the page"), ("GET /users/7", "user 7"), ("PUT /users/7", "put 7"),
            ("GET /both", "a page"),
        ]
    )
    func handlers(line: String, text: String) async throws {
        let response = try await response(line)
        #expect(response.status == 200)
        #expect(response.text == text)
    }

    @Test(
        "A path that there is nothing at is answered with 404 and a sentence",
        arguments: [
            "GET /nothing", "GET /page/", "GET /Page", "POST /users", "GET /%70age%2F",
        ]
    )
    func notFound(line: String) async throws {
        let response = try await response(line)
        #expect(response.status == 404)
        #expect(response.text == "404 Not Found\nThere is nothing at this path.\n")
        #expect(response["Connection"] == nil)
    }

    @Test(
        "A method that a path doesn't answer gets 405 and those that it does",
        arguments: [
            ("DELETE /page", "GET, HEAD, OPTIONS, POST"), ("POST /users/7", "GET, HEAD, OPTIONS, PUT"),
            ("GET /only-delete", "DELETE, OPTIONS"), ("HEAD /only-delete", "DELETE, OPTIONS"),
        ]
    )
    func methodNotAllowed(line: String, allowed: String) async throws {
        let response = try await response(line)
        #expect(response.status == 405)
        #expect(response["Allow"] == allowed)
        let method = line.prefix { $0 != " " }
        let text = "405 Method Not Allowed\nThis path answers \(allowed), not \(method).\n"
        #expect(response.text == (method == "HEAD" ? "" : text))
        #expect(response["Content-Length"] == "\(text.utf8.count)")
    }

    @Test("OPTIONS is answered with the methods that the path answers")
    func options() async throws {
        let response = try await response("OPTIONS /both")
        #expect(response.status == 204 && response["Allow"] == "GET, HEAD, OPTIONS" && response.text.isEmpty)
    }

    @Test(
        "A method that the server doesn't know gets 501",
        arguments: ["BREW /page", "get /page", "CONNECT localhost:80"]
    )
    func notImplemented(line: String) async throws {
        let response = try await response(line)
        #expect(response.status == 501)
        #expect(response.text.contains("doesn't know the method"))
    }

    @Test("A plain request for a WebSocket gets 426 and says what to do")
    func upgradeRequired() async throws {
        let response = try await response("GET /socket")
        #expect(response.status == 426)
        #expect(response["Upgrade"] == "websocket")
        #expect(response["Connection"] == "Upgrade")
        #expect(response.text.contains("WebSocket client"))
    }

    @Test("An upgrade to something else is answered as if it weren't one (RFC 9110 section 7.8)")
    func otherUpgrade() async throws {
        let response = try await response("GET /both", headers: "Upgrade: h2c\r\nConnection: Upgrade\r\n")
        #expect(response.status == 200)
        #expect(response.text == "a page")
    }

    @Test("A WebSocket's handler is told the request that opened it, with the parameters of its path")
    func request() async throws {
        try await withServer { server in
            server.webSocket("/rooms/:id") { socket, request in
                let query = request.head.query.map { "?\($0)" } ?? ""
                try await socket.send("\(request.parameters["id", default: "none"])\(query) \(request.path)")
            }
        } _: { address in
            for (path, text) in [("/rooms/a%20b", "a b /rooms/a%20b"), ("/rooms/1?x=2", "1?x=2 /rooms/1")] {
                let peer = try await RawPeer.openWebSocket(to: address, path)
                #expect(try await peer.readFrame().text == text)
                #expect(try await peer.readFrame().closeCode == 1_000)
            }
        }
    }

    @Test("A star takes every WebSocket that no other path has")
    func star() async throws {
        try await withServer { server in
            server.webSocket("*") { socket in try await socket.send("any") }
            server.webSocket("/one") { socket in try await socket.send("one") }
        } _: { address in
            for (path, text) in [("/", "any"), ("/one", "one"), ("/one/two", "any")] {
                let peer = try await RawPeer.openWebSocket(to: address, path)
                #expect(try await peer.readFrame().text == text)
            }
        }
    }

    @Test("A handler that returns an optional is answered with 404 for nil, and otherwise by its value")
    func optional() async throws {
        let names = ["1": "Mia"]
        try await withServer { server in
            server.get("/names/:id") { request in names[request.parameters["id", default: ""]] }
            server.get("/later/:id") { request async -> Response? in
                names[request.parameters["id", default: ""]].map { Response(type: "a/b", body: .text($0)) }
            }
            server.post("/status/:id") { request -> HTTPResponse.Status? in
                request.parameters["id"] == "1" ? .created : nil
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for (line, status) in [
                ("GET /names/1", 200), ("GET /names/2", 404), ("GET /later/1", 200), ("GET /later/2", 404),
                ("POST /status/1", 201), ("POST /status/2", 404),
            ] {
                let response = try await peer.response(to: "\(line) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(response.status == status, "\(line)")
                if status == 200 { #expect(response.text == "Mia") }
                if status == 404 { #expect(response.text == "404 Not Found\nThere is nothing at this path.\n") }
            }
        }
        #expect(String?.none.response.status == .notFound && String?("a").response.status == .ok)
    }
}
