// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite struct SecurityHeadersTests {
    private static let frame = HTTPField.Name("X-Frame-Options")
    private static let referrer = HTTPField.Name("Referrer-Policy")

    @Test("Every answer has them, those of errors too, and keeps what it says itself")
    func everywhere() async throws {
        var server = WebServer(port: 0)
        server.use(.securityHeaders())
        server.get("/") { request in request[ContentNonce.self] ?? "none" }
        server.get("/own") { _ in Response(fields: [.contentSecurityPolicy: "default-src 'none'"]) }
        let (frame, referrer) = (try #require(Self.frame), try #require(Self.referrer))
        try await WebServer.testing(server) { client async throws in
            for path in ["/", "/nothing"] {
                let fields = try await client.get(path).fields
                #expect(fields[.xContentTypeOptions] == "nosniff" && fields[frame] == "DENY")
                #expect(fields[referrer] == "no-referrer" && fields[.strictTransportSecurity] == nil)
                #expect(fields[.contentSecurityPolicy]?.hasPrefix("default-src 'self'") == true)
            }
            // A policy without a nonce needs none.
            #expect(try await client.get("/").text == "none")
            #expect(try await client.get("/own").fields[.contentSecurityPolicy] == "default-src 'none'")
        }
    }

    @Test("A policy may have a nonce, which is the handler's and new for every request")
    func nonce() async throws {
        var headers = SecurityHeaders()
        headers.contentPolicy = "script-src 'nonce-{nonce}'"
        headers.referrerPolicy = nil
        headers.deniesFrames = false
        var server = WebServer(port: 0)
        server.use(.securityHeaders(headers))
        server.get("/") { request in request[ContentNonce.self] ?? "none" }
        let (frame, referrer) = (try #require(Self.frame), try #require(Self.referrer))
        try await WebServer.testing(server) { client async throws in
            var seen: Set<String> = []
            for _ in 0..<3 {
                let answer = try await client.get("/")
                #expect(answer.text.utf8.count == 32)
                #expect(answer.fields[.contentSecurityPolicy] == "script-src 'nonce-\(answer.text)'")
                #expect(answer.fields[frame] == nil && answer.fields[referrer] == nil)
                seen.insert(answer.text)
            }
            #expect(seen.count == 3)
        }
    }

    @Test("A nonce may stand at the ends of a policy, and two next to each other")
    func nonceAtEnds() async throws {
        var headers = SecurityHeaders()
        headers.contentPolicy = "{nonce}{nonce} a {nonce}"
        var server = WebServer(port: 0)
        server.use(.securityHeaders(headers))
        server.get("/") { request in request[ContentNonce.self] ?? "none" }
        try await WebServer.testing(server) { client async throws in
            let answer = try await client.get("/")
            let nonce = answer.text
            #expect(answer.fields[.contentSecurityPolicy] == "\(nonce)\(nonce) a \(nonce)")
        }
    }
}
