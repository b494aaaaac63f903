// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

@Suite struct RequestTests {
    /// What a handler gets for a request.
    private func request(_ path: String, _ text: String) async throws -> (Request, [UInt8], SocketAddress?) {
        let seen = Mutex<(Request, [UInt8])?>(nil)
        let address = try await withServer { [text] server in
            for method in [HTTPRequest.Method.get, .post] {
                server.on(method, path) { request in
                    let body = try await request.body.collect()
                    seen.withLock { $0 = (request, body) }
                    return "seen \(text.utf8.count)"
                }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let response = try await peer.response(to: text)
            #expect(response.status == 200)
            return peer.socket.localAddress
        }
        let (request, body) = try #require(seen.withLock { $0 })
        return (request, body, address)
    }

    @Test("It has the parts of the request line, the fields and the peer")
    func parts() async throws {
        let text = "GET /a%20b/J%C3%BCrgen?x=1&y=%20 HTTP/1.1\r\nHost: example.com:80\r\nX-One: 1\r\nX-Two: 2\r\n\r\n"
        let (request, body, address) = try await request("/a b/:name", text)
        #expect(request.method == .get)
        #expect(request.path == "/a%20b/J%C3%BCrgen")
        #expect(request.head.query == "x=1&y=%20")
        #expect(request.parameters.count == 1 && request.parameters["name"] == "Jürgen")
        #expect(request.head.host == "example.com:80")
        #expect(request.headers.count == 3)
        #expect(request.body.length == 0 && body.isEmpty)
        #expect(request.remoteAddress == address)
    }

    @Test("It is described in one line, without the query, the fields and the body")
    func description() async throws {
        let text = """
            POST /a%20b?token=secret HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r
            Cookie: id=secret\r\nContent-Length: 6\r\n\r\nsecret
            """
        let (request, _, address) = try await request("/a b", text)
        #expect("\(request)" == "POST /a%20b?… from \(try #require(address))")
    }

    @Test(
        "It has the whole body, whether its length was announced or it came in chunks",
        arguments: [
            ("Content-Length: 11\r\n\r\nhello world", "hello world"),
            (
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nTrailer: 1\r\n\r\n",
                "hello world"
            ),
            ("Content-Length: 0\r\n\r\n", ""),
            ("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""),
        ]
    )
    func bodies(rest: String, body: String) async throws {
        let (request, collected, _) = try await request("/", "POST / HTTP/1.1\r\nHost: localhost\r\n" + rest)
        #expect(String(decoding: collected, as: UTF8.self) == body)
        #expect(request.head.query == nil)
    }

    /// Says when it is freed.
    private final class Token: Sendable {
        private let end: AsyncStream<Void>.Continuation

        init(_ end: AsyncStream<Void>.Continuation) { self.end = end }

        deinit { end.finish() }
    }

    @Test("A request that the app keeps doesn't keep the server", .timeLimit(minutes: 1))
    func kept() async throws {
        let seen = Mutex<Request?>(nil)
        let (ends, end) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            let token = Token(end)
            server.on(.post, "/") { [token] request in
                seen.withLock { $0 = request }
                let body = try await request.body.collect()
                return withExtendedLifetime(token) { "\(body.count)" }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let text = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            let response = try await peer.response(to: text + "5\r\nhello\r\n0\r\n\r\n")
            #expect(response.status == 200)
        }
        for await _ in ends {}
        #expect(seen.withLock { $0 } != nil)
    }
}

@Suite("Values that go with a request")
struct RequestKeyTests {
    private enum User: RequestKey { typealias Value = String }
    private enum Number: RequestKey { typealias Value = Int }

    @Test("Each is found by its key, where middleware has noted it")
    func values() async throws {
        var server = WebServer(port: 0)
        server.use(
            .before { request in
                request[Number.self] = 1
                if request.head.query == "user" { request[User.self] = "mia" }
                return nil
            }
        )
        server.use(
            .before { request in
                request[Number.self] = request[Number.self].map { $0 + 1 }
                if request.head.query == "none" { request[Number.self] = nil }
                return nil
            }
        )
        server.get("/") { request in
            "\(request[User.self] ?? "nobody") \(request[Number.self].map(String.init) ?? "none")"
        }
        try await server.test { client async throws in
            #expect(try await client.get("/?user").text == "mia 2")
            #expect(try await client.get("/").text == "nobody 2")
            #expect(try await client.get("/?none").text == "nobody none")
        }
    }
}

@Suite(.timeLimit(minutes: 1)) struct SecretRequestTests {
    @Test("The query of a request that is marked is in no access log, and that of another one is")
    func query() async throws {
        let lines = Mutex<[String]>([])
        var server = WebServer(port: 0)
        server.use(
            .completed { request, outcome in
                let entry = AccessEntry(request: request, outcome: outcome, showsQuery: true)
                lines.withLock { $0.append(entry.target) }
            }
        )
        let marking = RouteOption.before { request in
            request[SecretRequest.self] = true
            return nil
        }
        server.get("/secret", marking) { _ in "ok" }
        server.get("/other") { _ in "ok" }
        try await server.test { client async throws in
            _ = try await client.get("/secret?token=1")
            _ = try await client.get("/other?a=1")
        }
        #expect(lines.withLock { $0 } == ["/secret", "/other?a=1"])
    }
}
