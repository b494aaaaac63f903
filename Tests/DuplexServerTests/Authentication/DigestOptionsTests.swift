// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import Testing

@Suite("How a route asks for Digest")
struct DigestOptionsTests {
    @Test("SHA-256 comes first and MD5 last, and each names its algorithm")
    func standard() async throws {
        #expect(DigestOptions().algorithms == [.sha256, .md5] && DigestOptions().nonceLifetime == .seconds(300))
        #expect(!DigestOptions().offersBasic && !DigestOptions().hashesUsers)
        var server = WebServer(port: 0)
        server.get("/", .digestAuth(realm: "x", accounts: ["mia": "y"])) { _ in "in" }
        try await WebServer.testing(server) { client async throws in
            let values = try await client.get("/").fields[values: .wwwAuthenticate]
            #expect(values.count == 2 && values[0].contains("algorithm=SHA-256") && values[1].contains("algorithm=MD5"))
            let nonces = AuthenticationChallenge.parse(values).map { $0["nonce"] }
            #expect(nonces[0] != nil && nonces[0] == nonces[1])
        }
    }

    @Test("A nonce is good for as long as the route says")
    func lifetime() async throws {
        var server = WebServer(port: 0)
        let options = DigestOptions(algorithms: [.md5], nonceLifetime: .seconds(10))
        server.get("/", .digestAuth(realm: "x", accounts: ["mia": "pä:ss"], options: options)) { _ in "in" }
        try await WebServer.testing(server) { client async throws in
            let mia = DigestClient(algorithm: .md5)
            let first = try await client.get("/")
            #expect(first.fields[values: .wwwAuthenticate].count == 1)
            #expect(try await client.get("/", fields: mia.fields(first, "/")).text == "in")
            await client.clock.advance(by: .seconds(10))
            #expect(try await client.get("/", fields: mia.fields(first, "/", count: 2)).isStale)
        }
    }
}
