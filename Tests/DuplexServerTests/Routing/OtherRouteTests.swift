// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

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
        server.fallback { request in Response(status: .notFound, body: .text("nothing at \(request.path)")) }
        server.group("/app", .after { $1.fields[.xContentTypeOptions] = "app" }) { app in
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
        try await WebServer.testing(server) { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let response = String(decoding: try await connection.receiveAll(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 \(status) "))
            #expect(response.hasSuffix("\r\n\r\n\(text)"))
        }
    }

    @Test(
        "However the path of a group is written, its own fallback answers, behind its steps",
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
        try await WebServer.testing(server) { client async throws in
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
        try await WebServer.testing(server) { client async throws in
            #expect(try await client.request(.delete, "/page").status == .methodNotAllowed)
            #expect(try await client.request(.options, "/page").fields[.allow] == "GET, HEAD, OPTIONS")
            #expect(try await client.request(.init("BREW") ?? .get, "/").status == .notImplemented)
        }
    }

    @Test("A route of a method that the server doesn't know answers it, also behind a parameter")
    func unknownMethod() async throws {
        let brew = try #require(HTTPRequest.Method(rawValue: "BREW"))
        var server = WebServer(port: 0)
        server.on(brew, "/pots/:id") { request in "pot \(request.parameters["id"] ?? "")" }
        try await WebServer.testing(server) { client async throws in
            #expect(try await client.request(brew, "/pots/7").text == "pot 7")
        }
    }
}
