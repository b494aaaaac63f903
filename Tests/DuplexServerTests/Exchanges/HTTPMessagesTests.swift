// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Heads of swift-http-types")
struct HTTPMessagesTests {
    @Test("A request has method, scheme, authority, path with query, and the fields but Host")
    func request() throws {
        let fields: HTTPFields = [.accept: "text/plain", .cookie: "a=1"]
        let request = try Request(.put, "/a%20b?x=1&y", headers: fields).httpRequest
        #expect(request.method == .put && request.scheme == "http" && request.authority == "localhost")
        #expect(request.path == "/a%20b?x=1&y" && request.headerFields == fields)
    }

    @Test("The authority is in the target, too, and neither a CONNECT nor the server as a whole has a path of its own")
    func targets() throws {
        let absolute = try Request(.get, "http://example.com:81/a?b").httpRequest
        #expect(absolute.authority == "example.com:81" && absolute.path == "/a?b")
        #expect(try Request(.options, "*").httpRequest.path == "*")
        let tunnel = try Request(.connect, "example.com:443").httpRequest
        #expect(tunnel.path == nil && tunnel.authority == "example.com:443")
    }

    @Test("A response is sent with the status, the fields and the body")
    func response() async throws {
        var server = WebServer(port: 0)
        server.get("/text") { request in
            var head = HTTPResponse(status: .accepted)
            head.headerFields = [
                .contentType: "text/plain", .server: request.httpRequest.path ?? "", .contentLength: "9",
            ]
            return Response(head, body: .text("body"))
        }
        server.get("/none") { _ in Response(HTTPResponse(status: .noContent)) }
        try await server.test { client async throws in
            let response = try await client.get("/text?q")
            #expect(response.status == .accepted && response.text == "body")
            #expect(response.headers[.contentType] == "text/plain" && response.headers[.server] == "/text?q")
            #expect(response.headers[values: .contentLength] == ["4"])
            #expect(try await client.get("/none").status == .noContent)
        }
    }
}
