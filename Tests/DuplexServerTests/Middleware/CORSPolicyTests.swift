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
        server.get("/") { _ in Response(headers: [.vary: "Accept"], body: "x") }
        server.on(.put, "/") { _ in "put" }
        try await server.test(body)
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
            headers: [.authorization],
            allowsCredentials: true,
            maximumAge: .seconds(7)
        )
        try await testing(policy) { client async throws in
            for path in ["/", "/nothing"] {
                let answer = try await client.request(.options, path, headers: Self.preflight)
                #expect(answer.status == .noContent && answer.body.isEmpty)
                #expect(answer.headers[.accessControlAllowOrigin] == Self.origin)
                #expect(answer.headers[.accessControlAllowCredentials] == "true")
                #expect(answer.headers[.accessControlAllowMethods] == "GET, HEAD, POST, PUT")
                #expect(answer.headers[.accessControlAllowHeaders] == "Authorization")
                #expect(answer.headers[.accessControlMaxAge] == "7")
                #expect(answer.headers[.vary]?.contains("Origin") == true)
            }
            // Without the question it is OPTIONS as any other.
            let options = try await client.request(.options, "/")
            #expect(
                options.headers[.allow] == "GET, HEAD, OPTIONS, PUT"
                    && options.headers[.accessControlAllowMethods] == nil
            )
        }
    }

    @Test(
        "Another origin is told nothing, and may not read",
        arguments: ["https://evil.example", "null", "https://app.example.evil", "HTTPS://APP.EXAMPLE"]
    )
    func others(origin: String) async throws {
        try await testing(CORSPolicy(.origins(Self.origin))) { client async throws in
            var headers = Self.preflight
            headers[.origin] = origin
            let answer = try await client.request(.options, "/", headers: headers)
            #expect(
                answer.headers[.accessControlAllowOrigin] == nil && answer.headers[.accessControlAllowMethods] == nil
            )
            let read = try await client.get("/", headers: [.origin: origin])
            #expect(read.headers[.accessControlAllowOrigin] == nil && read.headers[.vary] == "Accept, Origin")
        }
    }

    @Test("Of several methods of a path, the one that is asked about has the say")
    func method() async throws {
        var server = WebServer(port: 0)
        server.get("/") { _ in "" }
        server.on(.put, "/", .cors(CORSPolicy(.origins(Self.origin)))) { _ in "" }
        try await server.test { client async throws in
            let answer = try await client.request(.options, "/", headers: Self.preflight)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.origin)
        }
    }

    @Test("An answer says who may read it, and that it depends on who asks; errors do, too")
    func answers() async throws {
        let policy = CORSPolicy(.matching { $0.hasSuffix(".example") }, exposed: [.eTag])
        try await testing(policy) { client async throws in
            for (path, status) in [("/", HTTPResponse.Status.ok), ("/nothing", .notFound)] {
                let read = try await client.get(path, headers: [.origin: Self.origin])
                #expect(read.status == status && read.headers[.accessControlAllowOrigin] == Self.origin)
                #expect(read.headers[.accessControlExposeHeaders] == "ETag")
                #expect(read.headers[.accessControlAllowCredentials] == nil)
                #expect(read.headers[.vary]?.contains("Origin") == true)
            }
            #expect(try await client.get("/").headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test("A policy for everybody has no credentials")
    func anybody() async throws {
        try await testing(CORSPolicy(.any, allowsCredentials: true)) { client async throws in
            let read = try await client.get("/", headers: [.origin: "null"])
            #expect(
                read.headers[.accessControlAllowOrigin] == "*" && read.headers[.accessControlAllowCredentials] == nil
            )
            #expect(read.headers[.vary] == "Accept")
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
        try await server.test(body)
    }

    private static func headers(_ site: String?, _ origin: String?) throws -> HTTPFields {
        var headers = HTTPFields()
        if let site { headers[try #require(HTTPField.Name("Sec-Fetch-Site"))] = site }
        if let origin { headers[.origin] = origin }
        return headers
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
            let headers = try Self.headers(site, origin)
            #expect(try await client.post("/", headers: headers).status == .forbidden)
            #expect(try await client.get("/", headers: headers).text == "read")
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
            #expect(try await client.post("/", headers: try Self.headers(site, origin)).text == "done")
        }
    }
}
