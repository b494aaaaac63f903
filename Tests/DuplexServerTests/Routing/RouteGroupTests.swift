// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite struct RouteGroupTests {
    @Test("Paths are joined: a slash is the group itself, a star all below it")
    func paths() {
        var group = RouteGroup(prefix: "/a", options: [])
        group.get("/") { _ in "" }
        group.get("/b") { _ in "" }
        group.get("*") { _ in "" }
        #expect(group.definitions.map(\.path) == ["/a", "/a/b", "/a/*"])
        var plain = RouteGroup()
        plain.get("/") { _ in "" }
        plain.get("*") { _ in "" }
        plain.group("/c") { $0.get("/") { _ in "" } }
        #expect(plain.definitions.map(\.path) == ["/", "*", "/c"])
    }

    @Test(
        "Routes of a host answer it alone, and those without one answer where it has nothing",
        arguments: [
            ("api.example.com", "/", "api"), ("api.example.com:8080", "/", "api"), ("API.example.com", "/", "api"),
            ("www.example.com", "/", "any of www.example.com"), ("example.com", "/", "all"), ("other", "/", "all"),
            ("api.example.com", "/shared", "shared"), ("api.example.com", "/users/7", "user 7"),
            ("www.example.com", "/users/7", "404"), ("api.example.com", "/deep", "inner"),
        ]
    )
    func hosts(host: String, path: String, text: String) async throws {
        var server = WebServer(port: 0)
        server.allowedHosts = ["*"]
        server.get("/") { _ in "all" }
        server.get("/shared") { _ in "shared" }
        server.host("*.example.com") { any in
            any.get("/") { request in "any of \(request.head.host)" }
            any.host("api.example.com") { api in api.get("/deep") { _ in "inner" } }
        }
        server.host("api.example.com") { api in
            api.get("/") { _ in "api" }
            api.group("/users") { users in users.get("/:id") { request in "user \(request.parameters["id"] ?? "")" } }
        }
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let response = String(decoding: try await connection.receiveAll(), as: UTF8.self)
            #expect(text == "404" ? response.hasPrefix("HTTP/1.1 404") : response.hasSuffix("\r\n\r\n\(text)"))
        }
    }

    @Test("A method that a host's path hasn't got may be that of all hosts")
    func methods() async throws {
        var server = WebServer(port: 0)
        server.post("/a") { _ in "posted" }
        server.host("localhost") { host in host.get("/a") { _ in "got" } }
        try await server.test { client async throws in
            #expect(try await client.request(.post, "/a").text == "posted")
            #expect(try await client.get("/a").text == "got")
            #expect(try await client.request(.delete, "/a").headers[.allow] == "GET, HEAD, OPTIONS")
        }
    }

    @Test("WebSockets have hosts as requests do")
    func webSockets() async throws {
        var server = WebServer(port: 0)
        server.host("localhost") { host in host.webSocket("/") { socket in try await socket.send("local") } }
        server.webSocket("/") { socket in try await socket.send("all") }
        try await server.test { client async throws in
            let socket = try await client.webSocket("/")
            #expect(try await socket.receive() == .text("local"))
        }
    }

    @Test("A server on loopback answers for the hosts that its routes are for, and for no others")
    func allowed() async throws {
        var server = WebServer(port: 0)
        server.host("my.app") { app in app.get("/") { _ in "mine" } }
        try await server.test { client async throws in
            for (host, status) in [("my.app", "200"), ("evil.app", "421")] {
                let connection = await client.connect()
                try await connection.send(raw: "GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                let response = String(decoding: try await connection.receiveAll(), as: UTF8.self)
                #expect(response.hasPrefix("HTTP/1.1 \(status) "))
            }
        }
    }
}
