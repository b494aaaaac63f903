// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

/// What HTTPConnection.swift refuses, each with its status, a sentence and the end of the connection.
@Suite struct HTTPConnectionRefusalTests {
    private static func configure(_ server: inout WebServer) {
        server.get("/") { _ in "root" }
        server.on(.post, "/") { request in "\(try await request.body.collect().count)" }
        server.webSocket("/socket") { _ in }
    }

    private func refusal(
        _ bytes: [UInt8],
        limits: HTTPLimits = .internet,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RawResponse {
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.limits.http = limits
        }
        return try await withServer(configure, firstSent: bytes) { peer in
            let response = try await peer.readResponse()
            #expect(response["Connection"] == "close", sourceLocation: sourceLocation)
            #expect(response.text.hasPrefix(response.statusLine.dropFirst(9) + "\n"), sourceLocation: sourceLocation)
            #expect(response.text.split(separator: "\n").count == 2, sourceLocation: sourceLocation)
            #expect(try await peer.isAtEnd(), sourceLocation: sourceLocation)
            return response
        }
    }

    @Test(
        "A head that isn't one is answered with 400 and what is wrong with it",
        arguments: [
            ("GET /\r\nHost: a\r\n\r\n", "request line"),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "white space"),
            ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "request line"),
            ("GET / http/1.1\r\nHost: a\r\n\r\n", "request line"),
            ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", "method"),
            ("GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
            ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
            ("GET /#part HTTP/1.1\r\nHost: a\r\n\r\n", "percent-encoded"),
            ("GET / HTTP/1.1\r\n\r\n", "Host is missing"),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "Host is given 2 times"),
            ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "Host is"),
            ("GET / HTTP/1.1\nHost: a\n\n", "line feed"),
            ("GET / HTTP/1.1\r\nHost: a\r\rX: 1\r\n\r\n", "stands alone"),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", "white space"),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", "field name"),
            ("GET / HTTP/1.1\r\n: a\r\n\r\n", "field name"),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", "field name"),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", "control"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "Content-Length"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "Content-Length"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,1\r\n\r\n", "Content-Length"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", "Content-Length"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", "Transfer-Encoding"),
            ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "chunk"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "chunk"),
            ("\u{16}\u{3}\u{1}\u{2}\u{0}\r\n", "control"),
        ]
    )
    func badRequest(head: String, reason: String) async throws {
        let response = try await refusal(Array(head.utf8))
        #expect(response.status == 400)
        #expect(response.text.contains(reason))
    }

    @Test(
        "A body that is too long gets 413, before the rest of it has come",
        arguments: [
            "Content-Length: 11\r\n\r\n", "Content-Length: 9223372036854775807\r\nExpect: 100-continue\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n6\r\nsix by\r\n5\r\ntes.\r\n",
        ]
    )
    func contentTooLarge(rest: String) async throws {
        var limits = HTTPLimits.internet
        limits.bodySize = 10
        let response = try await refusal(Array("POST / HTTP/1.1\r\nHost: a\r\n\(rest)".utf8), limits: limits)
        #expect(response.status == 413)
        #expect(response.text.contains("10 bytes"))
    }

    @Test("A request line that is too long gets 414")
    func uriTooLong() async throws {
        let path = String(repeating: "a", count: 8_192)
        #expect(try await refusal(Array("GET /\(path) HTTP/1.1\r\n".utf8)).status == 414)
    }

    @Test("A method that is too long gets 501")
    func methodTooLong() async throws {
        let method = String(repeating: "A", count: 9_000)
        #expect(try await refusal(Array("\(method) / HTTP/1.1\r\n".utf8)).status == 501)
    }

    @Test("A head that is too long gets 431")
    func headTooLarge() async throws {
        let value = String(repeating: "v", count: 17 * 1_024)
        #expect(try await refusal(Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(value)\r\n\r\n".utf8)).status == 431)
    }

    @Test("A head with too many fields gets 431")
    func tooManyFields() async throws {
        let headers = (0..<101).map { "X-\($0): 1\r\n" }.joined()
        #expect(try await refusal(Array("GET / HTTP/1.1\r\n\(headers)\r\n".utf8)).status == 431)
    }

    @Test("A transfer coding that the server doesn't know gets 501")
    func unknownCoding() async throws {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
        #expect(try await refusal(Array(head.utf8)).status == 501)
    }

    @Test("Another major version gets 505", arguments: ["HTTP/2.0", "HTTP/0.9", "HTTP/3.1"])
    func unsupportedVersion(version: String) async throws {
        #expect(try await refusal(Array("GET / \(version)\r\nHost: a\r\n\r\n".utf8)).status == 505)
    }

    @Test(
        "A head or a body that doesn't come in time gets 408",
        arguments: [
            "G", "GET / HTTP/1.1\r\nHost: a\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1234",
        ]
    )
    func timeout(bytes: String) async throws {
        try await withMemoryServer(Self.configure) { server in
            let peer = await server.connect()
            try await peer.send(bytes)
            let answer = await server.loop.begin { try await peer.readResponse() }
            await server.loop.advance(by: .seconds(10))
            let response = try await answer.value
            #expect(response.status == 408)
            #expect(response["Connection"] == "close")
            #expect(response.text.contains("in time"))
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A nanosecond before, it is still in time")
    func inTime() async throws {
        try await withMemoryServer(Self.configure) { server in
            let peer = await server.connect()
            try await peer.send("GET / HTTP/1.1\r\nHost:")
            await server.loop.advance(by: .seconds(10) - .nanoseconds(1))
            try await peer.send(" a\r\n\r\n")
            #expect(try await peer.readResponse().status == 200)
        }
    }

    @Test("A slow head gets 408 on a connection that has served requests, counted from its first byte")
    func laterTimeout() async throws {
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.limits.http.headTime = .milliseconds(100)
        }
        try await withServer(configure, firstSent: Array(get.utf8)) { peer in
            #expect(try await peer.readResponse().status == 200)
            try await peer.send(get + "GET")
            #expect(try await peer.readResponse().status == 200)
            #expect(try await peer.readResponse().status == 408)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test(
        "A body that drips gets 408 when its time is over, however steadily it drips",
        arguments: [
            ("Content-Length: 1000000\r\n\r\n", "x"), ("Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
        ]
    )
    func dripping(head: String, drop: String) async throws {
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            // So that a drop buys no time.
            server.limits.http.bodyRate = .unlimited
        }
        try await withMemoryServer(configure) { server in
            let peer = await server.connect()
            try await peer.send("POST / HTTP/1.1\r\nHost: a\r\n\(head)")
            for _ in 0..<100 {
                try await peer.send(drop)
                await server.loop.advance(by: .milliseconds(100))
            }
            #expect(try await peer.readResponse().status == 408)
            let isAtEnd = try await peer.isAtEnd()
            #expect(isAtEnd)
        }
    }

    @Test("A connection that sends nothing is closed after the same time, without a word")
    func silent() async throws {
        try await withServer { server in
            server.limits.http.headTime = .milliseconds(100)
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let isAtEnd = try await peer.isAtEnd()
            #expect(isAtEnd)
        }
    }

    @Test("Requests before a malformed one in the same piece are answered, those behind it aren't")
    func neighbours() async throws {
        try await withServer(Self.configure) { address in
            let peer = try await RawPeer.connect(to: address)
            let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
            try await peer.send(get + get + "nonsense\r\n" + get)
            for status in [200, 200, 400] { #expect(try await peer.readResponse().status == status) }
            #expect(try await peer.isAtEnd())
        }
    }

    // MARK: WebSocket handshakes

    @Test(
        "A handshake that isn't right is refused with the status that says so, and the connection goes on",
        arguments: [
            ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 426),
            ("Sec-WebSocket-Version: 13", "X-Version: none", 426),
            ("Sec-WebSocket-Key: ", "Sec-WebSocket-Key: x", 400),
            ("Sec-WebSocket-Key: ", "X-Key: ", 400),
            ("Connection: Upgrade", "Connection: keep-alive", 400),
            ("GET ", "POST ", 405),
            ("Upgrade: websocket", "X-Upgrade: websocket", 426),
        ]
    )
    func badHandshake(part: String, replacement: String, status: Int) async throws {
        try await withServer(Self.configure) { address in
            let peer = try await RawPeer.connect(to: address)
            let request = RawPeer.upgradeRequest("/socket").replacing(part, with: replacement)
            let response = try await peer.response(to: request)
            #expect(response.status == status)
            #expect(response.text.split(separator: "\n").count == 2)
            if part.hasPrefix("Sec-WebSocket-Version") { #expect(response["Sec-WebSocket-Version"] == "13") }
            if status == 405 { #expect(response["Allow"] == "GET") }
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/socket")).status == 101)
        }
    }

    @Test(
        "A page of another origin is refused with 403, one of the same host and what is no page aren't",
        arguments: [
            ("http://evil.example", 403), ("null", 403), ("https://localhost", 403), ("http://localhost:8080", 403),
            ("http://localhost", 101), ("http://LOCALHOST:80", 101), (nil, 101),
        ] as [(String?, Int)]
    )
    func origins(origin: String?, status: Int) async throws {
        try await withServer(Self.configure) { address in
            let peer = try await RawPeer.connect(to: address)
            let request = RawPeer.upgradeRequest("/socket", origin.map { "Origin: \($0)" } ?? "X-No-Origin: 1")
            let response = try await peer.response(to: request.replacing("Host: localhost", with: "Host: localhost:80"))
            #expect(response.status == status)
        }
    }

    @Test("Origins that the server allows may connect, and no others")
    func allowedOrigins() async throws {
        try await withServer { server in
            Self.configure(&server)
            server.webSockets.origins = .allowed(["https://app.example"])
        } _: { address in
            for (origin, status) in [
                ("https://app.example", 101), ("http://app.example", 403), ("http://localhost", 403),
            ] {
                let peer = try await RawPeer.connect(to: address)
                let request = RawPeer.upgradeRequest("/socket", "Origin: \(origin)")
                #expect(try await peer.response(to: request).status == status)
            }
        }
    }

    @Test("What clients ask for wrongly is told one by one at debug, and at info as a sum")
    func inSums() async throws {
        let log = RecordedLog()
        // No time passes on it, so that all of them are in one sum.
        let group = EventLoopGroup(of: [try EventLoop(name: "server", clock: .manual(ManualTime()))])
        try await withServer { server in
            Self.configure(&server)
            server.eventLoops = group
            server.logger = log.logger
            server.allowedHosts = ["a"]
            // A machine that is busy may have a loop stand still.
            server.blockedLoopThreshold = nil
        } _: { address in
            let requests = [
                "GET / HTTP/1.1\r\nHost: b\r\n\r\n", "G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
                "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
            ]
            for request in requests {
                let peer = try await RawPeer.connect(to: address)
                let status = try await peer.response(to: request).status
                #expect([400, 421, 426].contains(status))
                await peer.close()
            }
        }
        await group.stop()
        let told = log.entries.filter { $0.message == "a request was refused" }
        #expect(told.map(\.level) == [.debug, .debug, .debug])
        #expect(told.allSatisfy { $0.metadata["reason"]?.isEmpty == false && $0.metadata["peer"] != nil })
        let others = log.entries.filter { $0.level > .debug }
        #expect(others.map(\.level) == [.info])
        #expect(others.first?.metadata == ["refused": "2", "violation": "1", "total": "3"])
    }
}
