// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("The last requests", .timeLimit(minutes: 1))
struct RequestHistoryTests {
    @Test("Requests are kept while somebody looks, and not before or behind that")
    func looking() async throws {
        let history = RequestHistory(RequestHistoryOptions(), grace: .zero)
        var server = WebServer(port: 0)
        server.use(.observed(by: history))
        server.get("/a") { _ in "ok" }
        let secret = RouteOption.before { request in
            request[SecretRequest.self] = true
            return nil
        }
        server.get("/secret", secret) { _ in "ok" }
        try await server.test { client async throws in
            _ = try await client.get("/a?1")
            var look: LiveHold? = history.look()
            _ = try await client.get("/a?2")
            _ = try await client.get("/none")
            _ = try await client.get("/secret")
            #expect(look != nil)
            look = nil
            while history.isLooking { await Task.yield() }
            _ = try await client.get("/a?3")
        }
        let kept = history.ring.all
        #expect(kept.map(\.url).map { $0.split(separator: "/").last ?? "" } == ["a?2", "none"])
        #expect(kept.map(\.status) == [200, 404] && kept.map(\.id) == [1, 2] && kept[0].route == "/a")
    }

    @Test("Who looks again within the grace has them all")
    func grace() {
        let history = RequestHistory(RequestHistoryOptions(), grace: .seconds(3_600))
        var look: LiveHold? = history.look()
        #expect(history.isLooking && look != nil)
        look = nil
        #expect(history.isLooking)
    }
}

@Suite struct RequestHistoryOptionsTests {
    @Test("The defaults are those that are told of")
    func standard() {
        let options = RequestHistoryOptions()
        #expect(options.count == 500 && options.bodySize == .kibibytes(64) && options.size == .mebibytes(32))
    }
}

@Suite("What is recorded of a request", .timeLimit(minutes: 1))
struct RequestWatcherTests {
    private func recorded(
        _ server: WebServer,
        _ body: (TestClient) async throws -> Void
    ) async throws -> [RecordedExchange] {
        var options = RequestHistoryOptions()
        options.bodySize = .bytes(8)
        let history = RequestHistory(options, grace: .zero)
        let look = history.look()
        var server = server
        server.use(.observed(by: history))
        try await server.test(body)
        withExtendedLifetime(look) {}
        return history.ring.all
    }

    @Test("Fields, both bodies up to a bound, times, and what failed")
    func exchange() async throws {
        var server = WebServer(port: 0)
        server.post("/echo") { request in
            Response(type: .plainText, headers: [.eTag: "\"1\""], body: .text(try await request.text()))
        }
        server.get("/stream") { _ in
            Response(type: .plainText) { writer in
                for piece in ["abcdef", "ghijkl"] { try await writer.write(piece) }
            }
        }
        server.get("/fails") { _ async throws -> String in throw LiveRefusal("no") }
        server.get("/packed", .compressResponses()) { _ in String(repeating: "x", count: 4_000) }
        let all = try await recorded(server) { client async throws in
            _ = try await client.request(.post, "/echo?q=1", headers: [.from: "me"], body: Array("0123456789".utf8))
            _ = try await client.get("/stream")
            _ = try await client.get("/fails")
            _ = try await client.get("/packed", headers: [.acceptEncoding: "gzip"])
        }
        #expect(all.map(\.status) == [200, 200, 500, 200])
        #expect(all[0].method == "POST" && all[0].url.hasSuffix("/echo?q=1") && all[0].requestHeaders[.from] == "me")
        for body in [all[0].requestBody, all[0].responseBody] {
            #expect(body.bytes == Array("01234567".utf8) && body.size == 10 && body.isCut)
        }
        #expect(all[0].responseHeaders[.eTag] == "\"1\"" && all[0].durations.handler != nil)
        #expect(all[1].responseBody.bytes == Array("abcdefgh".utf8) && all[1].responseBody.size == 12)
        #expect(all[2].error != nil)
        #expect(all[3].responseBody.bytes == Array("xxxxxxxx".utf8) && all[3].responseBody.size == 4_000)
    }

    @Test("Bodies that go compressed are known to be, but for those that the server has plain")
    func coded() async throws {
        var server = WebServer(port: 0)
        server.post("/packed", .compressResponses()) { request in
            _ = try await request.body.collect(limit: .kibibytes(64))
            return String(repeating: "x", count: 4_000)
        }
        server.get("/own") { _ in Response(type: .plainText, headers: [.contentEncoding: "gzip"], body: [31, 139, 8]) }
        server.get("/stream", .compressResponses()) { _ in
            Response(type: .plainText) { writer in try await writer.write(String(repeating: "x", count: 4_000)) }
        }
        let all = try await recorded(server) { client async throws in
            let headers: HTTPFields = [.contentEncoding: "gzip", .acceptEncoding: "gzip"]
            _ = try await client.request(.post, "/packed", headers: headers, body: [31, 139, 8])
            _ = try await client.get("/own")
            let stream = try await client.get("/stream", headers: [.acceptEncoding: "gzip"])
            #expect(stream.headers[.contentEncoding] == "gzip")
            _ = try await client.get("/stream", headers: [.acceptEncoding: "identity"])
        }
        #expect(all.map(\.requestBody.isCoded) == [true, false, false, false])
        #expect(all.map(\.responseBody.isCoded) == [false, true, true, false])
    }

    @Test("A WebSocket is told of as the request that it was")
    func upgrade() async throws {
        var server = WebServer(port: 0)
        server.webSocket("/socket") { socket in for try await _ in socket.messages {} }
        let all = try await recorded(server) { client async throws in
            await (try await client.webSocket("/socket")).close()
        }
        #expect(all.map(\.status) == [101] && all[0].requestHeaders[.upgrade] == "websocket")
    }
}
