// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Sending clients to where they are secured")
struct RouteOptionHTTPSRedirectTests {
    private func testing(_ option: RouteOption, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.allowedHosts = ["*"]
        server.use(option)
        server.get("/") { _ in "in the clear" }
        try await server.test(body)
    }

    @Test(
        "The host, the path and the query stay, the port is another",
        arguments: [
            ("example.com", "/", 443, "https://example.com/"),
            ("example.com:8080", "/a%20b?c=%2F", 443, "https://example.com/a%20b?c=%2F"),
            ("EXAMPLE.com:80", "/nothing", 8443, "https://example.com:8443/nothing"),
            ("[2001:db8::1]:80", "/", 443, "https://[2001:db8::1]/"),
        ]
    )
    func redirected(host: String, path: String, port: Int, location: String) async throws {
        try await testing(.redirectToHTTPS(port: port)) { client async throws in
            client.host = host
            for method in [HTTPRequest.Method.get, .post, .delete] {
                let answer = try await client.request(method, path)
                #expect(answer.status == .permanentRedirect && answer.headers[.location] == location)
            }
        }
    }

    @Test("Without a host there is nowhere to go, and the server as a whole has its first page")
    func withoutHost() async throws {
        try await testing(.redirectToHTTPS()) { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: "GET / HTTP/1.0\r\n\r\n")
            #expect(try await connection.response().status == .badRequest)
            let whole = await client.connect()
            try await whole.send(raw: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await whole.response().headers[.location] == "https://a/")
        }
    }

    @Test("What a proxy says counts only where it is trusted")
    func proxy() async throws {
        let name = try #require(HTTPField.Name("X-Forwarded-Proto"))
        try await testing(.redirectToHTTPS()) { client async throws in
            #expect(try await client.get("/", headers: [name: "https"]).status == .permanentRedirect)
        }
        try await testing(.redirectToHTTPS(trustsProxy: true)) { client async throws in
            #expect(try await client.get("/", headers: [name: "HTTPS"]).text == "in the clear")
            for said in ["http", "https, http", ""] {
                #expect(try await client.get("/", headers: [name: said]).status == .permanentRedirect)
            }
            #expect(try await client.get("/").status == .permanentRedirect)
        }
    }
}
