// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite struct RouteTableTests {
    private func table(_ configure: (inout WebServer) -> Void) throws -> RouteTable {
        var server = WebServer(port: 0)
        configure(&server)
        return try RouteTable(server.routes, settings: RouteSettings())
    }

    @Test("A route that is defined twice is an error that names it, also where parameters are called otherwise")
    func twice() {
        let pairs: [(String, (inout WebServer) -> Void)] = [
            ("GET /a", { for _ in 0..<2 { $0.get("/a") { _ in "" } } }),
            ("GET /:b", { server in for path in ["/:a", "/:b"] { server.get(path) { _ in "" } } }),
            ("WebSocket /a", { for _ in 0..<2 { $0.webSocket("/a") { _ in } } }),
        ]
        for (name, configure) in pairs {
            #expect {
                _ = try table(configure)
            } throws: { error in
                let error = error as? RouteError
                return error?.code == .definedTwice && error?.route == name
            }
        }
    }

    @Test("Methods of one path, and a page and a WebSocket at one path, are no contradiction")
    func beside() throws {
        _ = try table { server in
            server.get("/a") { _ in "" }
            server.post("/a") { _ in "" }
            server.webSocket("/a") { _ in }
            server.get("/:x") { _ in "" }
        }
    }

    @Test("A server with contradictory routes says so when it is to run, and listens on nothing")
    func running() async {
        var server = WebServer(port: 0)
        for _ in 0..<2 { server.get("/a") { _ in "" } }
        await #expect(throws: RouteError.self) {
            try await server.run { _ in Issue.record("The server listens.") }
        }
    }

    @Test("OPTIONS * is answered with what the server knows")
    func wholeServer() async throws {
        try await withServer { server in
            server.get("/") { _ in "" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try await peer.readHead()
            #expect(head.hasPrefix("HTTP/1.1 204 "))
            #expect(head.contains("\r\nAllow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n"))
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
        }
    }

    @Test("A method of any route is known to the server: 405 and 404 answer it elsewhere, and 501 answers all others")
    func methods() async throws {
        let report = try #require(HTTPRequest.Method("REPORT"))
        let propfind = try #require(HTTPRequest.Method("PROPFIND"))
        try await withServer { server in
            server.get("/") { _ in "" }
            server.on(report, "/reports") { _ in "" }
            server.host("b") { other in other.on(propfind, "/") { _ in "" } }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            func answer(_ line: String) async throws -> RawResponse {
                try await peer.response(to: "\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
            }
            for method in [report, propfind] {
                let refused = try await answer("\(method.rawValue) /")
                #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD, OPTIONS")
                #expect(try await answer("\(method.rawValue) /nothing").status == 404)
            }
            #expect(try await answer("REPORT /reports").status == 200)
            #expect(try await answer("MKCOL /").status == 501)
            #expect(try await answer("MKCOL /nothing").status == 501)
            let server = try await answer("OPTIONS *")
            #expect(server["Allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PROPFIND, PUT, REPORT")
        }
    }

    @Test("A plain path is found without parameters, and a text is preferred to a parameter")
    func plain() throws {
        let table = try table { server in
            server.get("/users/:id") { _ in "" }
            server.get("/users/me") { _ in "" }
        }
        for (target, pattern) in [("/users/me", "/users/me"), ("/users/7", "/users/:id"), ("/users/m%65", "/users/me")]
        {
            let head = try RequestHead(method: .get, target: target, fields: [.init("host") ?? .accept: "a"])
            guard case .respond(let endpoint, _) = table.decide(head) else {
                Issue.record("Nothing answers \(target).")
                continue
            }
            #expect(endpoint.pattern == pattern)
        }
    }
}
