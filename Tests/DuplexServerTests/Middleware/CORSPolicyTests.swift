// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Pages of other origins")
struct CORSPolicyTests {
    private func testing(_ policy: CORSPolicy, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(.cors(policy))
        server.get("/") { _ in Response(fields: [.vary: "Accept"], body: "x") }
        server.on(.put, "/") { _ in "put" }
        try await WebServer.testing(server, body)
    }

    private static let origin = "https://app.example"
    private static let preflight: HTTPFields = [
        .origin: origin, .accessControlRequestMethod: "PUT", .accessControlRequestHeaders: "authorization",
    ]

    @Test("A browser that asks before is told what the policy allows, also where no route is")
    func preflight() async throws {
        let policy = CORSPolicy(
            .origins(Self.origin),
            methods: [.put],
            fields: [.authorization],
            allowsCredentials: true,
            maximumAge: .seconds(7)
        )
        try await testing(policy) { client async throws in
            for path in ["/", "/nothing"] {
                let answer = try await client.request(.options, path, fields: Self.preflight)
                #expect(answer.status == .noContent && answer.body.isEmpty)
                #expect(answer.fields[.accessControlAllowOrigin] == Self.origin)
                #expect(answer.fields[.accessControlAllowCredentials] == "true")
                #expect(answer.fields[.accessControlAllowMethods] == "GET, HEAD, POST, PUT")
                #expect(answer.fields[.accessControlAllowHeaders] == "Authorization")
                #expect(answer.fields[.accessControlMaxAge] == "7")
                #expect(answer.fields[.vary]?.contains("Origin") == true)
            }
            // Without the question it is OPTIONS as any other.
            let options = try await client.request(.options, "/")
            #expect(
                options.fields[.allow] == "GET, HEAD, OPTIONS, PUT" && options.fields[.accessControlAllowMethods] == nil
            )
        }
    }

    @Test(
        "Another origin is told nothing, and may not read",
        arguments: ["https://evil.example", "null", "https://app.example.evil", "HTTPS://APP.EXAMPLE"]
    )
    func others(origin: String) async throws {
        try await testing(CORSPolicy(.origins(Self.origin))) { client async throws in
            var fields = Self.preflight
            fields[.origin] = origin
            let answer = try await client.request(.options, "/", fields: fields)
            #expect(answer.fields[.accessControlAllowOrigin] == nil && answer.fields[.accessControlAllowMethods] == nil)
            let read = try await client.get("/", fields: [.origin: origin])
            #expect(read.fields[.accessControlAllowOrigin] == nil && read.fields[.vary] == "Accept, Origin")
        }
    }

    @Test("Of several methods of a path, the one that is asked about has the say")
    func method() async throws {
        var server = WebServer(port: 0)
        server.get("/") { _ in "" }
        server.on(.put, "/", .cors(CORSPolicy(.origins(Self.origin)))) { _ in "" }
        try await WebServer.testing(server) { client async throws in
            let answer = try await client.request(.options, "/", fields: Self.preflight)
            #expect(answer.fields[.accessControlAllowOrigin] == Self.origin)
        }
    }

    @Test("An answer says who may read it, and that it depends on who asks; errors do, too")
    func answers() async throws {
        let policy = CORSPolicy(.matching { $0.hasSuffix(".example") }, exposed: [.eTag])
        try await testing(policy) { client async throws in
            for (path, status) in [("/", HTTPResponse.Status.ok), ("/nothing", .notFound)] {
                let read = try await client.get(path, fields: [.origin: Self.origin])
                #expect(read.status == status && read.fields[.accessControlAllowOrigin] == Self.origin)
                #expect(read.fields[.accessControlExposeHeaders] == "ETag")
                #expect(read.fields[.accessControlAllowCredentials] == nil)
                #expect(read.fields[.vary]?.contains("Origin") == true)
            }
            #expect(try await client.get("/").fields[.accessControlAllowOrigin] == nil)
        }
    }

    @Test("A policy for everybody has no credentials")
    func anybody() async throws {
        try await testing(CORSPolicy(.any, allowsCredentials: true)) { client async throws in
            let read = try await client.get("/", fields: [.origin: "null"])
            #expect(read.fields[.accessControlAllowOrigin] == "*" && read.fields[.accessControlAllowCredentials] == nil)
            #expect(read.fields[.vary] == "Accept")
        }
    }
}

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
