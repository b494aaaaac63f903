// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Early hints")
struct EarlyHintsTests {
    private static let link = "</style.css>; rel=preload; as=style"

    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(
            .before { request in request.path == "/refused" ? .text("no", status: .forbidden) : nil },
            .after { _, response in response.headers[.cacheControl] = "no-store" }
        )
        let hinting: @Sendable (Request) async throws -> Response = { request in
            try await request.sendEarlyHints(Self.link, headers: [.contentLength: "7", .server: "a"])
            try await request.sendEarlyHints("</more.js>; rel=preload", "</b.js>; rel=preload")
            return .text("page \(try await request.body.collect().count)")
        }
        server.get("/page", .earlyHints) { try await hinting($0) }
        server.post("/page", .earlyHints) { try await hinting($0) }
        server.get("/refused", .earlyHints) { try await hinting($0) }
        server.get("/without") { try await hinting($0) }
        server.get("/late", .earlyHints) { request in
            Response { writer in
                try await writer.write("begun ")
                do {
                    try await request.sendEarlyHints(Self.link)
                } catch let error as HTTPProtocolError {
                    try await writer.write(error.code.rawValue)
                }
            }
        }
        try await server.test(body)
    }

    @Test("They come before the response, each by itself, with the fields that were given and no others")
    func hints() async throws {
        try await testing { client async throws in
            for response in [try await client.get("/page"), try await client.post("/page", body: "four".utf8)] {
                #expect(response.interim.map(\.status) == [.earlyHints, .earlyHints])
                #expect(response.interim.first?.headers.map(\.description) == ["Server: a", "Link: \(Self.link)"])
                #expect(response.interim.last?.headers.count == 2)
                #expect(response.text.hasPrefix("page ") && response.headers[.cacheControl] == "no-store")
                #expect(response.headers[.server] == nil)
            }
            let connection = await client.connect()
            for _ in 0..<3 { #expect(try await connection.get("/page").interim.count == 2) }
        }
    }

    @Test("HEAD gets them, HTTP/1.0 doesn't, and nobody does whom middleware refuses")
    func others() async throws {
        try await testing { client async throws in
            #expect(try await client.request(.head, "/page").interim.count == 2)
            #expect(try await client.get("/refused").interim.isEmpty)
            let connection = await client.connect()
            try await connection.send(raw: "GET /page HTTP/1.0\r\nHost: localhost\r\n\r\n")
            let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("page 0"))
        }
    }

    @Test("Behind the beginning of the response they are refused, and on a route without the option")
    func refused() async throws {
        try await testing { client async throws in
            let late = try await client.get("/late")
            #expect(late.text == "begun wrongOrder" && late.interim.isEmpty)
            #expect(try await client.get("/without").status == .internalServerError)
        }
    }

    @Test("Who looks on at such a route learns of each request, and its handler's time is limited")
    func followed() async throws {
        let log = OutcomeLog()
        let (never, continuation) = AsyncStream<Never>.makeStream()
        var server = WebServer(port: 0)
        server.use(log.option)
        server.get("/", .earlyHints) { request async throws in
            try await request.sendEarlyHints(Self.link)
            return "done"
        }
        server.get("/slow", .earlyHints, .timeLimit(.seconds(5))) { request async throws in
            try await request.sendEarlyHints(Self.link)
            for await _ in never {}
            return "late"
        }
        try await server.test { client async throws in
            #expect(try await client.get("/").text == "done")
            #expect(try await log.next().summary == "/ 200 0 4")
            let connection = await client.connect()
            try await connection.send(.get, "/slow")
            await client.clock.advance(by: .milliseconds(5_100))
            #expect(try await connection.response().status == .serviceUnavailable)
            #expect(try await log.next().summary.hasPrefix("/slow 503 "))
        }
        continuation.finish()
        #expect(await log.rest() == 0)
    }

    @Test("A request that was answered gets none, whatever is asked for by then")
    func behind() async throws {
        let (requests, keep) = AsyncStream<Request>.makeStream()
        try await withServer { server in
            server.get("/", .earlyHints) { request async in
                keep.yield(request)
                return "done"
            }
            server.get("/next", .earlyHints) { request async throws in
                for await other in requests {
                    await #expect(throws: CancellationError.self) { try await other.sendEarlyHints() }
                    break
                }
                return "next"
            }
        } _: { address async throws in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "done")
            #expect(try await peer.response(to: "GET /next HTTP/1.1\r\nHost: a\r\n\r\n").text == "next")
        }
    }
}
