// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Requests of other sites' pages")
struct CrossSiteTests {
    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(.sameSite())
        server.get("/") { _ in "read" }
        server.post("/") { _ in "done" }
        try await WebServer.testing(server, body)
    }

    private static func fields(_ site: String?, _ origin: String?) throws -> HTTPFields {
        var fields = HTTPFields()
        if let site { fields[try #require(HTTPField.Name("Sec-Fetch-Site"))] = site }
        if let origin { fields[.origin] = origin }
        return fields
    }

    @Test(
        "What another site's page sends is refused",
        arguments: [
            ("cross-site", nil), ("same-site", nil), ("cross-site", "http://localhost"), (nil, "http://evil.example"),
            (nil, "null"), (nil, "http://localhost:81"), (nil, "http://localhost.evil.example"), ("", nil),
        ] as [(String?, String?)]
    )
    func refused(site: String?, origin: String?) async throws {
        try await testing { client async throws in
            let fields = try Self.fields(site, origin)
            #expect(try await client.post("/", fields: fields).status == .forbidden)
            #expect(try await client.get("/", fields: fields).text == "read")
        }
    }

    @Test(
        "What this site's pages, people and programs send is done",
        arguments: [
            ("same-origin", nil), ("none", nil), (nil, nil), (nil, "http://localhost"), (nil, "http://LOCALHOST"),
            ("same-origin", "http://localhost"),
        ] as [(String?, String?)]
    )
    func done(site: String?, origin: String?) async throws {
        try await testing { client async throws in
            #expect(try await client.post("/", fields: try Self.fields(site, origin)).text == "done")
        }
    }
}
