// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("A response that a test has got")
struct TestResponseTests {
    /// The response to GET of one path.
    private func response(_ make: @escaping @Sendable (Request) -> Response) async throws -> TestResponse {
        var server = WebServer(port: 0)
        server.get("/") { request in make(request) }
        return try await server.test { client in try await client.get("/") }
    }

    @Test("Its description shows the status, the fields and a text")
    func text() async throws {
        let lines = try await response { _ in .text("Who are you?", status: .badRequest) }
            .description.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "400 Bad Request" && lines.suffix(2) == ["", "Who are you?"])
        #expect(lines.contains { $0.lowercased() == "content-length: 12" })
    }

    @Test("Its description shows the length of what is long or no text, and nothing of an empty body")
    func others() async throws {
        let long = try await response { _ in Response(body: [UInt8](repeating: 0x61, count: 1_025)) }
        #expect(long.description.hasSuffix("\n\n(1025 bytes)"))
        let binary = try await response { _ in Response(body: [0xFF, 0x00]) }
        #expect(binary.description.hasSuffix("\n\n(2 bytes)"))
        let empty = try await response { _ in Response(.noContent) }
        #expect(empty.description.hasPrefix("204 No Content\n") && !empty.description.contains("\n\n"))
    }

    @Test("It has the status, the fields, the body, the trailers and what came before")
    func parts() async throws {
        var server = WebServer(port: 0)
        server.post("/") { request in
            let body = try await request.body.collect()
            return Response(.accepted, headers: [.server: "a"]) { writer in
                try await writer.write(body)
                await writer.setTrailers([.eTag: "\"x\""])
            }
        }
        let response = try await server.test { client in
            let connection = await client.connect()
            try await connection.begin(.post, "/", headers: [.expect: "100-continue"])
            // The handler asks for the body now, which is what the client waits for.
            await client.loop.settle()
            try await connection.write([0x61, 0xFF])
            try await connection.finish()
            return try await connection.response()
        }
        #expect(response.status == .accepted && response.head.status == .accepted)
        #expect(response.headers[.server] == "a" && response.headers[.transferEncoding] == "chunked")
        #expect(response.body == [0x61, 0xFF] && response.text == "a\u{FFFD}")
        #expect(response.trailers == [.eTag: "\"x\""])
        #expect(response.interim.map(\.status) == [.continue])
    }
}
