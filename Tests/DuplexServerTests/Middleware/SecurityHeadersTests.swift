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
        server.get("/own") { _ in Response(headers: [.contentSecurityPolicy: "default-src 'none'"]) }
        let (frame, referrer) = (try #require(Self.frame), try #require(Self.referrer))
        try await server.test { client async throws in
            for path in ["/", "/nothing"] {
                let headers = try await client.get(path).headers
                #expect(headers[.xContentTypeOptions] == "nosniff" && headers[frame] == "DENY")
                #expect(headers[referrer] == "no-referrer" && headers[.strictTransportSecurity] == nil)
                #expect(headers[.contentSecurityPolicy]?.hasPrefix("default-src 'self'") == true)
            }
            // A policy without a nonce needs none.
            #expect(try await client.get("/").text == "none")
            #expect(try await client.get("/own").headers[.contentSecurityPolicy] == "default-src 'none'")
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
        try await server.test { client async throws in
            var seen: Set<String> = []
            for _ in 0..<3 {
                let answer = try await client.get("/")
                #expect(answer.text.utf8.count == 32)
                #expect(answer.headers[.contentSecurityPolicy] == "script-src 'nonce-\(answer.text)'")
                #expect(answer.headers[frame] == nil && answer.headers[referrer] == nil)
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
        try await server.test { client async throws in
            let answer = try await client.get("/")
            let nonce = answer.text
            #expect(answer.headers[.contentSecurityPolicy] == "\(nonce)\(nonce) a \(nonce)")
        }
    }
}
