// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite("The client of a server under test")
struct TestClientTests {
    private func testing(
        _ configure: (inout WebServer) -> Void,
        _ body: (TestClient) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.logger = RecordedLog().logger
        configure(&server)
        try await server.test(body)
    }

    private static func echo(_ server: inout WebServer) {
        server.webSocket("/echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
    }

    // MARK: Requests

    @Test("Requests are routed, and answered with status, fields and body")
    func requests() async throws {
        try await testing { server in
            server.get("/hello/:name") { request in "Hello \(request.parameters["name", default: "you"])" }
            server.post("/length") { request in
                Response(.created, headers: [.server: "test"], body: try await request.body.collect())
            }
        } _: { client in
            #expect(try await client.get("/hello/world?q=1").text == "Hello world")
            let created = try await client.post("/length", body: "body".utf8)
            #expect(created.status == .created && created.headers[.server] == "test" && created.text == "body")
            #expect(try await client.request(.head, "/hello/you").body == [])
            #expect(try await client.get("/nothing").status == .notFound)
            #expect(try await client.delete("/length").status == .methodNotAllowed)
        }
    }

    @Test("Each method has a function, and all take bodies")
    func methods() async throws {
        try await testing { server in
            for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
                server.on(method, "/") { request in "\(request.method) \(try await request.text())" }
            }
        } _: { client async throws in
            #expect(try await client.post("/", body: "a".utf8).text == "POST a")
            #expect(try await client.put("/", body: "b".utf8).text == "PUT b")
            #expect(try await client.patch("/", body: "c".utf8).text == "PATCH c")
            #expect(try await client.delete("/").text == "DELETE ")
            #expect(try await client.delete("/", body: "d".utf8).text == "DELETE d")
        }
    }

    @Test("A request is for the client's host, and a server on loopback answers for no other")
    func host() async throws {
        try await testing { server in
            server.get("/") { request in request.head.host }
        } _: { client in
            #expect(try await client.get("/").text == "localhost")
            client.host = "evil.example:80"
            #expect(client.host == "evil.example:80")
            #expect(try await client.get("/").status == .misdirectedRequest)
            let name = try #require(HTTPField.Name("Host"))
            #expect(try await client.get("/", headers: [name: "127.0.0.1"]).text == "127.0.0.1")
        }
    }

    @Test("Each connection has an address, of the test's choice, and limits hold for it")
    func address() async throws {
        try await testing { server in
            server.limits.connectionsPerAddress = 1
            server.get("/") { request in "\(request.remoteAddress.map { "\($0)" } ?? "none")" }
        } _: { client in
            #expect(client.address == nil)
            let texts = [try await client.get("/").text, try await client.get("/").text]
            #expect(texts == ["127.0.0.1:49152", "127.0.0.1:49153"])
            let address = try SocketAddress("192.0.2.7", port: 4_242)
            client.address = address
            #expect(client.address == address)
            let first = await client.connect()
            #expect(try await first.get("/").text == "192.0.2.7:4242")
            let second = await client.connect()
            #expect(try await second.receive() == nil)
        }
    }

    // MARK: WebSockets

    @Test("A WebSocket is opened by a handshake, with what both sides agree on")
    func webSocket() async throws {
        try await testing { server in
            server.webSockets.compression = .enabled
            server.webSocket("/echo", .subprotocols("v2", "v1")) { socket, request in
                try await socket.send(request.headers[.userAgent] ?? "")
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { client in
            var options = WebSocketOptions()
            options.subprotocols = ["v1"]
            options.userAgent = "test"
            let socket = try await client.webSocket("/echo", options: options)
            #expect(socket.subprotocol == "v1")
            #expect(await socket.compression != nil)
            #expect(try await socket.receive() == .text("test"))
            try await socket.send(String(repeating: "long ", count: 1_000))
            #expect(try await socket.receive() == .text(String(repeating: "long ", count: 1_000)))
            #expect(await socket.close().isClean)
        }
    }

    @Test("A refusal is told with its status, of a foreign origin or an admission")
    func refusals() async throws {
        try await testing { server in
            Self.echo(&server)
            server.webSocket("/closed", admit: { _ -> Admission<Void> in .refused(.unauthorized, "Please log in.") }) {
                _,
                _,
                _ in
            }
        } _: { client in
            var options = WebSocketOptions()
            options.origin = "https://evil.example"
            var error = await #expect(throws: WebSocketError.self) {
                _ = try await client.webSocket("/echo", options: options)
            }
            #expect(error?.status == .forbidden)
            error = await #expect(throws: WebSocketError.self) { _ = try await client.webSocket("/closed") }
            #expect(error?.status == .unauthorized)
            options.origin = "http://localhost"
            try await client.webSocket("/echo", options: options).close()
        }
    }

    @Test("Clients that connect by themselves are led to the server")
    func routed() async throws {
        try await testing { server in
            Self.echo(&server)
            server.get("/") { _ in "page" }
        } _: { client in
            let options = client.routed()
            let socket = try await WebSocket.connect(
                to: "ws://localhost:81/echo",
                options: options,
                on: client.loop.group
            )
            try await socket.send("hi")
            #expect(try await socket.receive() == .text("hi"))
            await socket.close()
            // On a loop of its own, too.
            let plain = try await Socket.connect(
                to: .host("example.com", port: 80),
                options: client.routed(ConnectOptions())
            )
            try await plain.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(try await plain.readLine() == "HTTP/1.1 200 OK")
            await plain.close()
        }
    }

    // MARK: Time

    @Test("Time passes when the test moves it: a handler that waits, a head that doesn't come, an idle connection")
    func clock() async throws {
        try await testing { server in
            server.get("/page") { _ in "page" }
        } _: { client in
            let slow = await client.connect()
            try await slow.send(raw: "GET /page HTT")
            let idle = await client.connect()
            #expect(try await idle.get("/page").text == "page")
            await client.clock.advance(by: .seconds(9))
            #expect(client.loop.elapsed == .seconds(9))
            await client.clock.advance(by: .seconds(1))
            #expect(try await slow.response().status == .requestTimeout)
            await client.clock.advance(by: .seconds(49))
            #expect(try await idle.get("/page").text == "page")
            await client.clock.advance(by: .seconds(60))
            #expect(try await idle.receive() == nil)
        }
    }

    @Test("A handler may wait for the test's clock")
    func waitingHandler() async throws {
        let clocks = AsyncStream<TestClock>.makeStream()
        try await testing { server in
            server.get("/slow") { _ in
                for await clock in clocks.stream {
                    try await clock.sleep(for: .seconds(20))
                    break
                }
                return "done"
            }
        } _: { client in
            clocks.continuation.yield(client.clock)
            let request = await client.loop.begin { try await client.get("/slow") }
            await client.clock.advance(by: .seconds(20))
            let response = try await request.value
            #expect(response.text == "done")
        }
    }

    @Test("A request that was sent is at its wait before the time moves, as docs/TestingAServer.md shows it")
    func sentRequest() async throws {
        try await testing { server in
            server.get("/slow") { request in
                try await request.connection.sleep(for: .seconds(5))
                return "done"
            }
        } _: { client in
            let connection = await client.connect()
            for _ in 0..<50 {
                try await connection.send(.get, "/slow")
                await client.clock.advance(by: .seconds(5))
                #expect(try await connection.response().text == "done")
            }
            #expect(client.loop.elapsed == .seconds(250))
        }
    }

    @Test("A client that answers no ping is given up when its time has passed")
    func pings() async throws {
        try await testing(Self.echo) { client in
            var options = WebSocketOptions()
            options.pings = .disabled
            let socket = try await client.webSocket("/echo", options: options)
            client.faults = .stall(in: .toServer)
            let read = await client.loop.begin { try await socket.receive() }
            await client.clock.advance(by: .seconds(40))
            client.release()
            let error = await #expect(throws: WebSocketError.self) { try await read.value }
            #expect(error != nil)
        }
    }

    // MARK: Faults

    @Test("Everything works in pieces of one byte, until the connection is lost")
    func splitAndReset() async throws {
        try await testing { server in
            Self.echo(&server)
            server.get("/") { _ in "page" }
        } _: { client in
            client.faults = .split(every: 1)
            #expect(client.faults == .split(every: 1))
            #expect(try await client.get("/").text == "page")
            let socket = try await client.webSocket("/echo")
            client.faults = .split(every: 1, resetAfter: 40)
            try await socket.send("hi")
            #expect(try await socket.receive() == .text("hi"))
            try await socket.send([UInt8](repeating: 1, count: 100))
            await #expect(throws: WebSocketError.self) { try await socket.receive() }
        }
    }

    @Test("A client that is slow to read slows the handler down")
    func slowReader() async throws {
        let written = Numbering()
        try await testing { server in
            server.get("/") { _ in
                Response { writer in
                    for _ in 0..<100 {
                        try await writer.write([UInt8](repeating: 1, count: 10_000))
                        written.next()
                    }
                }
            }
        } _: { client in
            client.capacity = .kibibytes(16)
            #expect(client.capacity == .kibibytes(16))
            client.faults = .slow(10_000, every: .seconds(1), in: .toClient)
            let request = await client.loop.begin { try await client.get("/") }
            #expect((5...15).contains(written.count))
            await client.clock.advance(by: .seconds(10))
            #expect((10...25).contains(written.count))
            await client.clock.advance(by: .seconds(200))
            let response = try await request.value
            #expect(response.body.count == 1_000_000)
        }
    }

    @Test("What is held back is released, and connections can be reset")
    func releasing() async throws {
        try await testing { server in
            server.get("/") { _ in "page" }
        } _: { client in
            client.faults = .stall(after: 10, in: .toClient)
            let request = await client.loop.begin { try await client.get("/") }
            client.release(.toClient, bytes: 5)
            client.release()
            let response = try await request.value
            #expect(response.text == "page")
            let lost = await client.loop.begin { try await client.get("/") }
            client.resetConnections()
            await #expect(throws: SocketError.self) { try await lost.value }
        }
    }
}
