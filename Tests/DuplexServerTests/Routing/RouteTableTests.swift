// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTesting
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
            let head = try RequestHead(method: .get, target: target, headers: [.init("host") ?? .accept: "a"])
            guard case .respond(let endpoint, _) = table.decide(head) else {
                Issue.record("Nothing answers \(target).")
                continue
            }
            #expect(endpoint.pattern == pattern)
        }
    }
}

@Suite struct RouteDraftTests {
    private func endpoint(_ path: String) throws -> DuplexServer.Endpoint {
        try DuplexServer.Endpoint(
            pattern: path,
            method: .get,
            handler: .immediate { _ in .text("") },
            settings: RouteSettings()
        )
    }

    @Test("The same route may be there once for each host")
    func twice() throws {
        var draft = RouteDraft()
        draft.add(try endpoint("/a"), at: "/a", for: nil)
        draft.add(try endpoint("/a"), at: "/a", for: HostPattern("example.com"))
        draft.add(try endpoint("/a"), at: "/a", for: HostPattern("*.com"))
        #expect(try draft.hosts().map(\.pattern) == [HostPattern("example.com"), HostPattern("*.com")])
        #expect(draft.names.count == 3)
        draft.add(try endpoint("/a"), at: "/a", for: HostPattern("example.com"))
        #expect(throws: RouteError.self) { try draft.hosts() }
    }

    @Test("A host that no request can be for is an error that names it")
    func host() {
        var server = WebServer(port: 0)
        server.host("example.com:80") { $0.get("/") { _ in "" } }
        #expect {
            _ = try server.table()
        } throws: { error in
            let error = error as? RouteError
            return error?.code == .badHost && error?.route == "example.com:80/"
        }
    }
}

@Suite struct OtherRouteTests {
    private static func configure(_ server: inout WebServer) {
        server.allowedHosts = ["*"]
        server.get("/page") { _ in "page" }
        server.match("scripts") {
            $0.path.hasSuffix(".cgi")
        } handler: { request in
            "script by \(request.method.rawValue)"
        }
        server.match("odd") {
            $0.method.rawValue == "PROPFIND"
        } handler: { _ in
            "found"
        }
        server.fallback { request in Response(.notFound, body: .text("nothing at \(request.path)")) }
        server.group("/app", .after { $1.headers[.xContentTypeOptions] = "app" }) { app in
            app.fallback { _ in "the app" }
            app.match("app's") {
                $0.path.hasSuffix(".cgi")
            } handler: { _ in
                "the app's script"
            }
        }
        server.host("other.example") { other in other.fallback { _ in "the other host" } }
    }

    @Test(
        "What no path answers goes to the closure that picks it, and then to the fallback of the longest path",
        arguments: [
            ("GET", "/page", "a", 200, "page"), ("PUT", "/x/run.cgi?a", "a", 200, "script by PUT"),
            ("PROPFIND", "/page", "a", 200, "found"), ("GET", "/gone", "a", 404, "nothing at /gone"),
            ("GET", "/app/x", "a", 200, "the app"), ("GET", "/app", "a", 200, "the app"),
            ("GET", "/apple", "a", 404, "nothing at /apple"), ("POST", "/app/b.cgi", "a", 200, "the app's script"),
            ("GET", "/gone", "other.example:80", 200, "the other host"), ("GET", "/page", "other.example", 200, "page"),
        ]
    )
    func answers(method: String, path: String, host: String, status: Int, text: String) async throws {
        var server = WebServer(port: 0)
        Self.configure(&server)
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let response = String(decoding: try await connection.receiveAll(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 \(status) "))
            #expect(response.hasSuffix("\r\n\r\n\(text)"))
        }
    }

    @Test(
        "However the path of a group is written, its own fallback answers, behind its middleware",
        arguments: ["/admin/x", "/%61dmin/x", "/adm%69n", "/users/7/x", "/%75sers/%37"]
    )
    func encoded(path: String) async throws {
        var server = WebServer(port: 0)
        server.fallback { _ in "anybody's" }
        for prefix in ["/admin", "/users/:id"] {
            server.group(prefix, .basicAuth(realm: "a", accounts: ["mia": "secret"])) { group in
                group.fallback { _ in "a secret" }
            }
        }
        try await server.test { client async throws in
            #expect(try await client.get(path).status == .unauthorized)
            for other in ["/admi", "/admin%2Fx", "/users", "/users//x", "//admin"] {
                #expect(try await client.get(other).text == "anybody's")
            }
        }
    }

    @Test("A path that answers other methods is 405 nevertheless, OPTIONS answers by itself, an unknown method is 501")
    func rules() async throws {
        var server = WebServer(port: 0)
        server.get("/page") { _ in "page" }
        server.fallback { _ in "all else" }
        try await server.test { client async throws in
            #expect(try await client.request(.delete, "/page").status == .methodNotAllowed)
            #expect(try await client.request(.options, "/page").headers[.allow] == "GET, HEAD, OPTIONS")
            #expect(try await client.request(.init("BREW") ?? .get, "/").status == .notImplemented)
        }
    }

    @Test("A route of a method that the server doesn't know answers it, also behind a parameter")
    func unknownMethod() async throws {
        let brew = try #require(HTTPRequest.Method(rawValue: "BREW"))
        var server = WebServer(port: 0)
        server.on(brew, "/pots/:id") { request in "pot \(request.parameters["id"] ?? "")" }
        try await server.test { client async throws in
            #expect(try await client.request(brew, "/pots/7").text == "pot 7")
        }
    }
}
