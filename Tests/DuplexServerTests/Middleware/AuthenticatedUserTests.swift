// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

@Suite("Who makes a request")
struct AuthenticatedUserTests {
    private func testing(_ option: RouteOption, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.group("/in", option) { inside in
            inside.get("/") { request in request.user ?? "nobody" }
            inside.post("/body") { request in "\(try await request.body.collect().count)" }
            inside.webSocket("/socket") { socket, request in
                try await socket.send(request.user ?? "nobody")
            }
        }
        server.get("/out") { request in request.user ?? "nobody" }
        try await server.test(body)
    }

    private static let accounts = RouteOption.basicAuth(realm: "the \"room\"", accounts: ["mia": "pä:ss", "": "x"])
    private static let checked = RouteOption.basicAuth(realm: "the \"room\"") { credentials in
        await Task.yield()
        return credentials == PasswordCredentials(user: "mia", password: "pä:ss")
    }

    private static func authorization(_ user: String, _ password: String) throws -> HTTPFields {
        [.authorization: try #require(PasswordCredentials(user: user, password: password).basicValue)]
    }

    @Test("The right password lets in, by a list or by what the app says", arguments: [false, true])
    func right(isChecked: Bool) async throws {
        try await testing(isChecked ? Self.checked : Self.accounts) { client async throws in
            let headers = try Self.authorization("mia", "pä:ss")
            #expect(try await client.get("/in", headers: headers).text == "mia")
            #expect(try await client.get("/out").text == "nobody")
            var options = WebSocketOptions()
            options.headers = headers
            let socket = try await client.webSocket("/in/socket", options: options)
            #expect(try await socket.receive() == .text("mia"))
            await socket.reset()
        }
    }

    @Test("Anything else is 401 with the challenge", arguments: [false, true])
    func wrong(isChecked: Bool) async throws {
        try await testing(isChecked ? Self.checked : Self.accounts) { client async throws in
            let wrong = [
                [:], try Self.authorization("mia", "pä:s"), try Self.authorization("mia", ""),
                try Self.authorization("eve", "pä:ss"),
                try Self.authorization("", ""), [.authorization: "Basic"], [.authorization: "Basic ???"],
                [.authorization: "Basic bWlh"], [.authorization: "Bearer bWlhOnDDpDpzcw=="],
                [.authorization: "Basic /////w=="],
            ]
            for headers in wrong {
                let answer = try await client.get("/in", headers: headers)
                #expect(answer.status == .unauthorized, "\(headers)")
                #expect(answer.headers[.wwwAuthenticate] == #"Basic realm="the \"room\"", charset="UTF-8""#)
            }
            let error = await #expect(throws: WebSocketError.self) { try await client.webSocket("/in/socket") }
            #expect(error?.handshake?.status == .unauthorized)
        }
    }

    @Test("A password that begins with a combining mark is taken byte by byte, and what no method answers asks as well")
    func details() async throws {
        let option = RouteOption.basicAuth(realm: "x", accounts: ["mia": "secret", "eve": "\u{301}secret"])
        try await testing(option) { client async throws in
            #expect(
                try await client.get("/in", headers: Self.authorization("mia", "\u{301}secret")).status == .unauthorized
            )
            #expect(try await client.get("/in", headers: Self.authorization("eve", "\u{301}secret")).text == "eve")
            #expect(try await client.request(.delete, "/in").status == .unauthorized)
            #expect(try await client.request(.options, "/in").status == .unauthorized)
            #expect(try await client.get("/in/socket").status == .unauthorized)
            // Too long a body isn't told before who one is.
            let long: HTTPFields = [.contentLength: "99999999"]
            let connection = await client.connect()
            try await connection.begin(.post, "/in/body", headers: long)
            #expect(try await connection.response().status == .unauthorized)
            await connection.close()
        }
    }

    private static let guards: [(String, RouteOption)] = [
        ("accounts", accounts), ("checked", checked), ("bearer", .bearerAuth(realm: "x") { _ in nil }),
        ("digest", .digestAuth(realm: "x", accounts: ["mia": "x"])),
        ("digest asked", .digestAuth(realm: "x") { _ in nil }),
        ("certificate", .clientCertificate { _ in "anybody" }),
    ]

    /// GCDWebServer took the whole body first, and CocoaHTTPServer opened WebSockets before it asked for a password.
    @Test(
        "Who isn't let in isn't asked for the body, and gets no WebSocket, no stream and no other method",
        arguments: guards.indices
    )
    func guarding(index: Int) async throws {
        let handled = Mutex(0)
        var server = WebServer(port: 0)
        server.group("/in", Self.guards[index].1) { inside in
            inside.get("/") { _ in
                handled.withLock { $0 += 1 }
                return "in"
            }
            inside.get("/stream") { _ in
                Response { writer in
                    handled.withLock { $0 += 1 }
                    try await writer.write("in")
                }
            }
            inside.post("/body") { request in
                handled.withLock { $0 += 1 }
                return "\(try await request.body.collect().count)"
            }
            inside.webSocket("/socket") { _ in handled.withLock { $0 += 1 } }
        }
        let isCertificate = Self.guards[index].0 == "certificate"
        let refusal = isCertificate ? HTTPResponse.Status.forbidden : .unauthorized
        try await server.test { client async throws in
            let wrong = [
                "", "Authorization: Basic bWlhOng=\r\n", "Authorization: Bearer x\r\n", "Authorization: Digest x=y\r\n",
            ]
            for field in wrong {
                let connection = await client.connect()
                try await connection.send(
                    raw: "POST /in/body HTTP/1.1\r\nHost: localhost\r\n\(field)Expect: 100-continue\r\n"
                        + "Content-Length: 5\r\n\r\n"
                )
                let answer = try await connection.response()
                #expect(answer.status == refusal && answer.interim.isEmpty)
                #expect(answer.headers.contains(.wwwAuthenticate) == !isCertificate)
                await connection.close()
            }
            for path in ["/in", "/in/stream"] {
                for method: HTTPRequest.Method in [.get, .head] {
                    #expect(try await client.request(method, path).status == refusal)
                }
            }
            let error = await #expect(throws: WebSocketError.self) { try await client.webSocket("/in/socket") }
            #expect(error?.handshake?.status == refusal)
            #expect(handled.withLock { $0 } == 0)
        }
    }

    @Test(
        "No way of writing a path leads past the guard",
        arguments: [
            "/in/", "/in//", "//in", "/./in", "/x/../in", "/%69n", "/in%2F", "/in/.", "/IN", "/in;a=b", "/in%00",
            "/in?a=b",
            "/in/body/..", "http://localhost/in", "http://localhost//in", "/in%2Fbody", "\\in", "/in\\",
        ]
    )
    func paths(path: String) async throws {
        try await testing(Self.accounts) { client async throws in
            for method in ["GET", "HEAD", "POST", "OPTIONS", "PUT"] {
                let connection = await client.connect()
                try await connection.send(
                    raw: "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Content-Length: 0\r\n\r\n"
                )
                let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
                // Guarded, or nothing at all.
                let status = answer.split(separator: " ").dropFirst().first ?? ""
                #expect(["401", "404", "400"].contains(status), "\(method): \(answer)")
                #expect(!answer.contains("nobody"))
                await connection.close()
            }
        }
    }

    @Test("A token lets in whose it is; without one the challenge names no error, with a wrong one it does")
    func bearer() async throws {
        let option = RouteOption.bearerAuth(realm: "api") { token in token == "t-1" ? "mia" : nil }
        try await testing(option) { client async throws in
            #expect(try await client.get("/in", headers: [.authorization: "Bearer t-1"]).text == "mia")
            #expect(try await client.get("/in", headers: [.authorization: "bearer t-1"]).text == "mia")
            let none = try await client.get("/in")
            #expect(none.status == .unauthorized && none.headers[.wwwAuthenticate] == #"Bearer realm="api""#)
            let wrong = try await client.get("/in", headers: [.authorization: "Bearer t-2"])
            #expect(wrong.headers[.wwwAuthenticate] == #"Bearer realm="api", error="invalid_token""#)
            for value in ["Bearer", "Basic t-1", "Bearer a b", "t-1"] {
                #expect(try await client.get("/in", headers: [.authorization: value]).status == .unauthorized)
            }
        }
    }
}

@Suite("What a request without the right credentials is answered with")
struct ChallengesTests {
    @Test("Each challenge is a field of its own, and the realm is quoted")
    func headers() {
        let problem = Challenges.unauthorized([Challenges.basic(realm: "a \"b\""), "Bearer realm=\"c\""])
        #expect(problem.status == .unauthorized)
        #expect(
            problem.headers[values: .wwwAuthenticate]
                == [#"Basic realm="a \"b\"", charset="UTF-8""#, #"Bearer realm="c""#]
        )
        let response = problem.response(for: nil)
        #expect(response.headers[values: .wwwAuthenticate].count == 2)
    }
}
