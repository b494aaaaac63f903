// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Requests that a test makes")
struct RequestTestingTests {
    /// A handler as a function, as an app has it.
    private static func addNote(_ request: Request) async throws -> Response {
        let id = try request.parameters.require("id", as: Int.self)
        let isDraft = try request.query["draft"] == "1"
        return Response(.created, body: .text("\(id) \(isDraft) \(try await request.text())"))
    }

    @Test("A handler gets path, query, parameters, fields and body of one")
    func handler() async throws {
        let request = try Request(
            .post,
            "/notes/7?draft=1",
            headers: [.contentType: "text/plain"],
            body: "text".utf8,
            parameters: ["id": "7"],
            from: try SocketAddress("192.0.2.1", port: 80)
        )
        #expect(request.method == .post && request.path == "/notes/7" && request.head.query == "draft=1")
        #expect(request.head.host == "localhost" && request.contentType == "text/plain")
        #expect(request.headers[.contentLength] == "4" && request.body.length == 4)
        #expect(request.remoteAddress == (try SocketAddress("192.0.2.1", port: 80)))
        let response = try await Self.addNote(request)
        #expect(response.status == .created && response.body.bytes == Array("7 true text".utf8))
    }

    @Test("By default it is a GET of / without a body")
    func defaults() async throws {
        let request = try Request()
        #expect(request.method == .get && request.path == "/" && request.head.query == nil)
        #expect(request.remoteAddress == nil)
        #expect(request.headers[.contentLength] == nil && request.body.length == 0 && request.tls == nil)
        #expect(try await request.body.collect() == [] && request.parameters.count == 0)
        await #expect(throws: Problem.self) { try await Self.addNote(request) }
    }

    @Test("A body is read once, in one piece, and bounded")
    func body() async throws {
        let request = try Request(.put, "/", body: [1, 2, 3])
        var pieces: [[UInt8]] = []
        for try await piece in request.body { pieces.append(piece) }
        #expect(pieces == [[1, 2, 3]])
        #expect(try await request.body.collect() == [])
        #expect(await request.body.trailers.isEmpty)
        let long = try Request(.put, "/", body: [1, 2, 3])
        let error = await #expect(throws: HTTPProtocolError.self) { try await long.body.collect(limit: .bytes(2)) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test("Values are noted with it, and what breaks the rules of HTTP is an error")
    func values() throws {
        enum Tenant: RequestKey { typealias Value = String }
        let request = try Request()
        request[Tenant.self] = "acme"
        #expect(request[Tenant.self] == "acme")
        #expect(throws: HTTPProtocolError.self) { try Request(.get, "no path") }
        #expect(throws: HTTPProtocolError.self) { try Request(.get, "/", headers: [.transferEncoding: "x"]) }
    }
}
