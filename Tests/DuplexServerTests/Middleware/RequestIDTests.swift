// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("Ids of requests")
struct RequestIDTests {
    private static let name = HTTPField.Name("X-Request-ID")

    private func testing(trustsProxy: Bool, _ body: (TestClient, HTTPField.Name) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(.requestID(trustsProxy: trustsProxy))
        server.get("/") { request in request[RequestID.self] ?? "none" }
        let name = try #require(Self.name)
        try await server.test { client async throws in try await body(client, name) }
    }

    @Test("Each request has one, which goes back with the answer")
    func own() async throws {
        try await testing(trustsProxy: false) { client, name async throws in
            let (first, second) = (try await client.get("/"), try await client.get("/", headers: [name: "theirs"]))
            #expect(first.text == first.headers[name] && first.text.utf8.count == 32)
            #expect(second.text == second.headers[name] && second.text != "theirs" && second.text != first.text)
            #expect(try await client.get("/nothing").headers[name]?.utf8.count == 32)
        }
    }

    @Test("Whoever is refused in front of it has one, too")
    func refused() async throws {
        var server = WebServer(port: 0)
        server.use(.before { _ in Response(.forbidden) }, .requestID())
        server.get("/") { _ in "" }
        let name = try #require(Self.name)
        try await server.test { client async throws in
            #expect(try await client.get("/").headers[name]?.utf8.count == 32)
        }
    }

    @Test("One that comes with the request is kept where it is trusted and fit")
    func given() async throws {
        try await testing(trustsProxy: true) { client, name async throws in
            #expect(try await client.get("/", headers: [name: "theirs-1"]).text == "theirs-1")
            for unfit in ["", "a b", String(repeating: "x", count: 129)] {
                #expect(try await client.get("/", headers: [name: unfit]).text.utf8.count == 32)
            }
        }
    }
}
