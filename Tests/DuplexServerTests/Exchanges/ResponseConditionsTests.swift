// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Responses to requests with conditions")
struct ResponseConditionsTests {
    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        let tagged: @Sendable (Request) -> Response = { _ in
            Response(type: .plainText, headers: [.eTag: "\"a\"", .cacheControl: "no-cache"], body: "content")
        }
        server.get("/tagged") { tagged($0) }
        server.get("/tagged/async") { request async in tagged(request) }
        server.get("/dated") { _ in
            Response(headers: [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"], body: "content")
        }
        server.get("/gone") { _ in Response(.gone, headers: [.eTag: "\"a\""], body: "content") }
        server.post("/tagged") { tagged($0) }
        try await server.test(body)
    }

    @Test(
        "A client that has the content gets 304 without it, with the fields that say so",
        arguments: ["/tagged", "/tagged/async"]
    )
    func notModified(path: String) async throws {
        try await testing { client async throws in
            let response = try await client.get(path, headers: [.ifNoneMatch: "\"b\", \"a\""])
            #expect(response.status == .notModified && response.body.isEmpty)
            #expect(response.headers[.eTag] == "\"a\"" && response.headers[.cacheControl] == "no-cache")
            #expect(response.headers[.contentType] == nil)
            #expect(try await client.get(path, headers: [.ifNoneMatch: "\"b\""]).text == "content")
            #expect(try await client.request(.head, path, headers: [.ifNoneMatch: "*"]).status == .notModified)
        }
    }

    @Test("So does one by a date; and 412 tells one that its content is another")
    func others() async throws {
        try await testing { client async throws in
            let since = "Sun, 06 Nov 1994 08:49:37 GMT"
            #expect(try await client.get("/dated", headers: [.ifModifiedSince: since]).status == .notModified)
            let before = "Sun, 06 Nov 1994 08:49:36 GMT"
            #expect(try await client.get("/dated", headers: [.ifModifiedSince: before]).text == "content")
            #expect(try await client.get("/dated", headers: [.ifUnmodifiedSince: before]).status == .preconditionFailed)
            #expect(try await client.get("/tagged", headers: [.ifMatch: "\"b\""]).status == .preconditionFailed)
        }
    }

    @Test("Other statuses and other methods are as their handlers say")
    func untouched() async throws {
        try await testing { client async throws in
            #expect(try await client.get("/gone", headers: [.ifNoneMatch: "\"a\""]).status == .gone)
            #expect(try await client.post("/tagged", headers: [.ifNoneMatch: "\"a\""]).text == "content")
        }
    }
}
