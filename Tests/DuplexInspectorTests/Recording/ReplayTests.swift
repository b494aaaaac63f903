// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("Recordings that are replayed", .timeLimit(minutes: 1))
struct ReplayTests {
    private static func server() -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.post("/orders") { _ in Response.text(#"{"order":1}"#, status: .created) }
        server.webSocket("/echo", .subprotocols("chat")) { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        server.webSocket("/silent") { socket in
            for try await _ in socket.messages {}
        }
        return server
    }

    private static func connection(_ path: String, _ frames: [RecordedFrame]) -> RecordedConnection {
        let url = "ws://elsewhere.example\(path)"
        var connection = RecordedConnection(id: 1, isClient: true, url: url, isSecure: false, began: 0)
        connection.frames = frames
        return connection
    }

    private static func run(
        _ connection: RecordedConnection,
        timeout: Duration = .seconds(10)
    ) async throws -> Replay.Outcome {
        try await server().withRunning { address in
            let target = try #require(ReplayTarget("ws://\(address)"))
            return await Replay(target: target, timeout: timeout).run(connection)
        }
    }

    @Test("What goes as recorded has no differences")
    func same() async throws {
        let exchange = try Sample.exchange()
        let outcome = try await Self.server().withRunning { address in
            let target = try #require(ReplayTarget("http://\(address)"))
            return await Replay(target: target).run(exchange)
        }
        #expect(outcome.status == 201)
        #expect(outcome.differences == [])
        #expect(outcome.error == nil)
    }

    @Test("Another status and another size are told")
    func different() async throws {
        var exchange = try Sample.exchange()
        exchange.status = 200
        exchange.responseBody = RecordedBytes([1])
        let recorded = exchange
        let outcome = try await Self.server().withRunning { address in
            let target = try #require(ReplayTarget("http://\(address)"))
            return await Replay(target: target).run(recorded)
        }
        #expect(
            outcome.differences
                == ["The status was 200, and is 201 now.", "The body had 1 bytes, and has 11 now."]
        )
    }

    @Test("Nobody there is an error of the entry")
    func nobody() async throws {
        let port = try ReservedPort()
        let target = try #require(ReplayTarget("http://\(port.address)"))
        let exchange = try Sample.exchange()
        #expect(await Replay(target: target).run(exchange).error != nil)
        let outcome = await Replay(target: target).run(Self.connection("/echo", []))
        #expect(outcome.error != nil && outcome.status == nil)
    }

    @Test("Messages are sent in their order, fragments put together, and what comes is compared")
    func conversation() async throws {
        let frames = [
            Sample.frame("one", .text), Sample.frame("one", .text, isOutgoing: false), Sample.frame("ping", .ping),
            Sample.frame("tw", .text, isFinal: false), Sample.frame("o", .continuation),
            Sample.frame("two", .text, isOutgoing: false), Sample.frame("x", .binary),
            Sample.frame("yy", .binary, isOutgoing: false), Sample.frame("x", .text),
            Sample.frame("y", .text, isOutgoing: false),
            Sample.frame("z", .text), Sample.frame("z", .binary, isOutgoing: false),
        ]
        let outcome = try await Self.run(Self.connection("/echo", frames))
        #expect(outcome.error == nil)
        #expect(outcome.status == 101)
        #expect(
            outcome.differences == [
                "Message 6 had 2 bytes, and has 1 now.", "Message 8 has other bytes, of the same number.",
                "Message 10 was binary, and is text now.",
            ]
        )
    }

    @Test("A message that doesn't come ends the wait for it in time")
    func silence() async throws {
        let frames = [Sample.frame("one", .text), Sample.frame("one", .text, isOutgoing: false)]
        let outcome = try await Self.run(Self.connection("/silent", frames), timeout: .seconds(3))
        // On a machine that is busy with other tests, connecting alone may take as long.
        #expect(outcome.error?.hasPrefix("Message 2 of 2: ") == true || outcome.status == nil, "\(outcome)")
        #expect(outcome.error != nil)
    }

    @Test("Subprotocols are asked for as they were, and another one is told")
    func subprotocol() async throws {
        var connection = Self.connection("/echo", [])
        connection.requestHeaders = [
            .secWebSocketProtocol: "other, chat", .secWebSocketKey: "x", .upgrade: "websocket",
        ]
        connection.subprotocol = "other"
        let outcome = try await Self.run(connection)
        #expect(outcome.differences == ["The subprotocol was “other”, and is “chat” now."])
    }

    @Test("No more differences are told than the bound")
    func bound() {
        var outcome = Replay.Outcome()
        for index in 0..<100 { outcome.differs("\(index)") }
        #expect(outcome.differences.count == Replay.differenceBound)
        #expect(outcome.differences.last == "And more.")
    }
}

@Suite("A server to replay against")
struct ReplayTargetTests {
    @Test(
        "It is a scheme, a host and a port",
        arguments: [
            ("http://localhost:8080", "localhost:8080", "localhost:8080"), ("wss://example.com/", "example.com", "tls"),
            ("ws://[::1]:81", "[::1]:81", "[::1]:81"), (" https://a", "a", "tls"),
        ]
    )
    func reads(url: String, authority: String, endpoint: String) throws {
        let target = try #require(ReplayTarget(url))
        #expect(target.authority == authority)
        #expect("\(target.endpoint)".contains(endpoint))
    }

    @Test(
        "What has a path, or isn't HTTP, is none",
        arguments: [
            "", "localhost", "http://a/b", "http://a/?x", "ftp://a", "http://", "file:///etc/passwd", "http://a b",
        ]
    )
    func refuses(url: String) {
        #expect(ReplayTarget(url) == nil)
    }

    @Test("WebSockets are there as well", arguments: [("http://a:1", "ws://a:1/x?y"), ("https://a", "wss://a/x?y")])
    func webSockets(url: String, expected: String) throws {
        #expect(try #require(ReplayTarget(url)).webSocketURL("/x?y") == expected)
    }
}

@Suite("Requests that are made again", .timeLimit(minutes: 1))
struct ReplayClientTests {
    @Test("The request is the recorded one, with the host, the fields and the body that it should have")
    func request() async throws {
        let seen = Mutex<[(HTTPFields, String, [UInt8])]>([])
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.post("/orders") { request in
            let body = try await request.body.collect()
            seen.withLock { $0.append((request.headers, request.head.host + " " + request.head.target, body)) }
            return Response.text("thanks", status: .accepted)
        }
        var exchange = try Sample.exchange()
        exchange.requestHeaders[.authorization] = "Bearer [masked]"
        exchange.requestHeaders[.expect] = "100-continue"
        let recorded = exchange
        try await server.withRunning { address in
            let target = try #require(ReplayTarget("http://\(address)"))
            let answer = try await ReplayClient(target: target, headers: [.userAgent: "replay"]).send(recorded)
            #expect(answer.status == 202)
            #expect(answer.size == 6)
            #expect(answer.seconds < 20)
            let (headers, line, body) = try #require(seen.withLock { $0.first })
            #expect(line == "\(address) /orders?x=1&y=")
            #expect(body == recorded.requestBody.bytes)
            #expect(headers[.authorization] == nil && headers[.expect] == nil)
            #expect(headers[.userAgent] == "replay")
            #expect(headers[.cookie] == "a=1; b=2=3")
            #expect(headers[.contentLength] == "7")
        }
    }

    @Test("A server that doesn't answer is given up in time")
    func timeout() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let target = try #require(ReplayTarget("http://\(listener.localAddress)"))
        let exchange = try Sample.exchange()
        await #expect(throws: SocketError.self) {
            try await ReplayClient(target: target, timeout: .milliseconds(200)).send(exchange)
        }
        await listener.close()
    }

    @Test("Nobody there is an error that says so")
    func nobody() async throws {
        let port = try ReservedPort()
        let target = try #require(ReplayTarget("http://\(port.address)"))
        let exchange = try Sample.exchange()
        await #expect(throws: SocketError.self) { try await ReplayClient(target: target).send(exchange) }
    }
}

@Suite("A response of which the length is read")
struct ResponseReadingTests {
    @Test(
        "Status and length are read, wherever the bytes are split",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, 3),
            (
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                201, 3
            ),
            ("HTTP/1.1 204 No Content\r\n\r\n", 204, 0), ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, 0),
        ] as [(String, Int, UInt64)]
    )
    func reads(text: String, status: Int, size: UInt64) throws {
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            var reading = ResponseReading(answering: .get)
            try reading.take(Array(bytes[..<split]))
            try reading.take(Array(bytes[split...]))
            #expect(reading.isDone && reading.status == status && reading.size == size)
        }
    }

    @Test("A body may end with the connection, a head and a length may not")
    func ends() throws {
        var open = ResponseReading(answering: .get)
        try open.take(Array("HTTP/1.1 200 OK\r\n\r\nabc".utf8))
        #expect(!open.isDone)
        try open.finish()
        #expect(open.isDone && open.size == 3)
        var head = ResponseReading(answering: .get)
        #expect(throws: HTTPProtocolError.self) { try head.finish() }
        var cut = ResponseReading(answering: .get)
        try cut.take(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc".utf8))
        #expect(throws: HTTPProtocolError.self) { try cut.finish() }
    }

    @Test("A body that is too long isn't read")
    func bound() {
        var reading = ResponseReading(answering: .get)
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(ReplayClient.bodyBound.bytes + 1)\r\n\r\n"
        #expect(throws: HTTPProtocolError.self) { try reading.take(Array(text.utf8)) }
    }

    @Test("What answers HEAD has no body")
    func head() throws {
        var reading = ResponseReading(answering: .head)
        try reading.take(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8))
        #expect(reading.isDone && reading.size == 0)
    }
}
