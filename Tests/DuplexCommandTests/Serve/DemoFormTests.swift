// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("The form of the demo page", .timeLimit(minutes: 1))
struct DemoFormTests {
    private func withPage(_ body: @escaping @Sendable (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async)
        try await server.test { client async throws in try await body(client) }
    }

    private static let parts = """
        --b\r\nContent-Disposition: form-data; name="text"\r\n\r\n<i>\r\n--b\r\n\
        Content-Disposition: form-data; name="file"; filename="a<b>.png"\r\nContent-Type: image/png\r\n\r\n\
        12345\r\n--b--\r\n
        """

    @Test("Names and values come back as the server has seen them")
    func headers() async throws {
        try await withPage { client async throws in
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"]
            let response = try await client.request(
                .post,
                "/demo/form",
                headers: headers,
                body: "text=%3Cb%3E+x&y=".utf8
            )
            #expect(response.headers[.contentType] == "application/json" && response.headers[.vary] == "Accept")
            let seen = #"{"name":"text","value":"<b> x","bytes":5},{"name":"y","value":"","bytes":0}"#
            #expect(response.text == #"{"kind":"urlencoded","fields":[\#(seen)]}"# + "\n")
        }
    }

    @Test("Of a file its name, its type and its length come back")
    func parts() async throws {
        try await withPage { client async throws in
            let headers: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
            let response = try await client.request(.post, "/demo/form", headers: headers, body: Self.parts.utf8)
            let file = #"{"name":"file","value":"","filename":"a<b>.png","type":"image/png","bytes":5}"#
            #expect(
                response.text == #"{"kind":"multipart","fields":[{"name":"text","value":"<i>","bytes":3},\#(file)]}"#
                    + "\n"
            )
        }
    }

    @Test("A browser without the script gets a page, in which nothing that was sent is markup")
    func page() async throws {
        try await withPage { client async throws in
            let headers: HTTPFields = [
                .contentType: "multipart/form-data; boundary=b", .accept: "text/html,application/xhtml+xml,*/*;q=0.8",
            ]
            let response = try await client.request(.post, "/demo/form", headers: headers, body: Self.parts.utf8)
            #expect(response.headers[.contentType] == "text/html; charset=utf-8")
            #expect(response.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(response.text.contains("&lt;i&gt;") && response.text.contains("a&lt;b&gt;.png"))
            #expect(!response.text.contains("<i>") && !response.text.contains("<b>"))
        }
    }

    @Test("What is no form is refused")
    func refused() async throws {
        try await withPage { client async throws in
            let response = try await client.post("/demo/form", body: [1, 2, 3])
            #expect(response.status == .unsupportedMediaType)
        }
    }

    @Test("A long value is shown in part, and counted whole")
    func longValue() async throws {
        try await withPage { client async throws in
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let body = "a=" + String(repeating: "x", count: 5_000)
            let response = try await client.request(.post, "/demo/form", headers: headers, body: body.utf8)
            #expect(response.text.utf8.count < 400 && response.text.contains(#""bytes":5000"#))
        }
    }
}
