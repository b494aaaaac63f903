// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging
import Synchronization
import Testing

@Suite struct HTTPConnectionTests {
    private struct Failure: Error {}

    private static func configure(_ server: inout WebServer) {
        server.get("/number/:n") { request in
            // The lower the number, the longer it takes, so that answers out of order would show.
            for _ in (Int(request.parameters["n"] ?? "") ?? 0)..<30 { await Task.yield() }
            return request.parameters["n"] ?? ""
        }
        server.on(.post, "/echo") { request in Response(body: try await request.body.collect()) }
        server.get("/failure") { _ -> Response in throw Failure() }
        server.webSocket("/socket") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
    }

    private func withPeer(
        _ configure: (inout WebServer) -> Void = Self.configure,
        _ body: @escaping @Sendable (RawPeer) async throws -> Void
    ) async throws {
        try await withServer(configure) { address in
            let peer = try await RawPeer.connect(to: address)
            try await body(peer)
        }
    }

    private static func get(_ path: String, _ headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    @Test("GET is answered with the body and HEAD with the same head and none")
    func getAndHead() async throws {
        try await withPeer { peer in
            let get = try await peer.response(to: Self.get("/number/7"))
            #expect(get.text == "7")
            let head = try await peer.response(to: "HEAD /number/7 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(head.statusLine == "HTTP/1.1 200 OK")
            #expect(head["Content-Length"] == "1")
            #expect(try await peer.response(to: Self.get("/number/8")).text == "8")
        }
    }

    @Test("Each response has its own status, reason and type, also right behind another")
    func starts() async throws {
        let configure: (inout WebServer) -> Void = { server in
            let fine = HTTPResponse.Status(code: 200, reasonPhrase: "Fine")
            server.get("/fine") { _ in Response(fine, type: "a/b") }
            server.get("/dated") { _ in Response(type: "a/b", headers: [.date: "then"]) }
            server.get("/text") { _ in "text" }
            server.get("/none") { _ in Response() }
        }
        try await withPeer(configure) { peer in
            try await peer.send(["/text", "/fine", "/dated", "/none", "/lost", "/text"].map { Self.get($0) }.joined())
            var seen: [String] = []
            for _ in 0..<6 {
                let response = try await peer.readResponse()
                seen.append("\(response.statusLine) \(response["Content-Type"] ?? "-") \(response["Date"]?.count ?? 0)")
            }
            #expect(
                seen == [
                    "HTTP/1.1 200 OK text/plain; charset=utf-8 29", "HTTP/1.1 200 Fine a/b 29", "HTTP/1.1 200 OK a/b 4",
                    "HTTP/1.1 200 OK - 29", "HTTP/1.1 404 Not Found text/plain; charset=utf-8 29",
                    "HTTP/1.1 200 OK text/plain; charset=utf-8 29",
                ]
            )
        }
    }

    @Test("Requests that come in one piece are answered in their order")
    func glued() async throws {
        try await withPeer { peer in
            try await peer.send((0..<30).map { Self.get("/number/\($0)") }.joined())
            for number in 0..<30 { #expect(try await peer.readResponse().text == "\(number)") }
        }
    }

    @Test("Requests that come byte by byte are answered as others are")
    func byteByByte() async throws {
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.limits.http.headTime = .seconds(100)
        }
        try await withPeer(configure) { peer in
            let echo = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
            try await peer.sendByteByByte(Array((Self.get("/number/1") + echo + Self.get("/number/2")).utf8))
            for text in ["1", "abc", "2"] { #expect(try await peer.readResponse().text == text) }
        }
    }

    @Test("Requests of all kinds in one piece, some refused, are answered in their order")
    func gluedMixture() async throws {
        try await withPeer { peer in
            let chunked =
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
            let unknown = Self.get("/unknown")
            try await peer.send(unknown + chunked + Self.get("/failure") + unknown + Self.get("/number/29") + unknown)
            for status in [404, 200, 500, 404, 200, 404] { #expect(try await peer.readResponse().status == status) }
        }
    }

    @Test(
        "The connection lasts as the version and the Connection field say (RFC 9112 section 9.3)",
        arguments: [
            ("1.1", "", true), ("1.1", "Connection: keep-alive\r\n", true), ("1.1", "Connection: close\r\n", false),
            ("1.1", "Connection: x, Close\r\n", false), ("1.0", "", false), ("1.0", "Connection: Keep-Alive\r\n", true),
            ("1.0", "Connection: close\r\n", false), ("1.2", "", true),
        ]
    )
    func persistence(version: String, headers: String, lasts: Bool) async throws {
        try await withPeer { peer in
            let request = "GET /number/1 HTTP/\(version)\r\nHost: localhost\r\n\(headers)\r\n"
            let response = try await peer.response(to: request)
            #expect(response.text == "1")
            if lasts {
                #expect(response["Connection"]?.lowercased() == (version == "1.0" ? "keep-alive" : nil))
                #expect(try await peer.response(to: request).text == "1")
            } else {
                #expect(response["Connection"] == "close")
                #expect(try await peer.isAtEnd())
            }
        }
    }

    @Test("What follows the last request of a connection isn't answered")
    func behindTheLast() async throws {
        try await withPeer { peer in
            try await peer.send(Self.get("/number/1", "Connection: close\r\n") + Self.get("/number/2"))
            #expect(try await peer.readResponse().text == "1")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A WebSocket may begin on any request of a connection")
    func laterUpgrade() async throws {
        try await withPeer { peer in
            #expect(try await peer.response(to: Self.get("/number/1")).text == "1")
            try await peer.send(Self.get("/number/2") + RawPeer.upgradeRequest("/socket"))
            #expect(try await peer.readResponse().text == "2")
            let response = try await peer.readResponse()
            #expect(response.status == 101)
            #expect(response["Sec-WebSocket-Accept"] == RawPeer.sampleAccept)
            #expect(response["Content-Length"] == nil)
            try await peer.send(.text("hello"))
            #expect(try await peer.readFrame().text == "hello")
        }
    }

    @Test("Frames in one piece with earlier requests and the upgrade are the WebSocket's")
    func gluedUpgrade() async throws {
        try await withPeer { peer in
            let requests = Self.get("/number/1") + RawPeer.upgradeRequest("/socket")
            try await peer.send(Array(requests.utf8) + peer.encoded(.text("a")) + peer.encoded(.text("b")))
            #expect(try await peer.readResponse().text == "1")
            #expect(try await peer.readResponse().status == 101)
            #expect(try await peer.readFrame().text == "a")
            #expect(try await peer.readFrame().text == "b")
        }
    }

    @Test("A crowd of frames in one piece with the header of a proxy and the handshake comes whole and in order")
    func crowdBehindProxyHeader() async throws {
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.listener.proxyProtocol = .required(from: IPNetwork.loopback)
        }
        try await withPeer(configure) { peer in
            let head = "PROXY TCP4 192.0.2.1 192.0.2.200 4000 80\r\n" + RawPeer.upgradeRequest("/socket")
            let numbers = (0..<1_500).map(String.init)
            try await peer.send(Array(head.utf8) + numbers.flatMap { peer.encoded(.text($0)) })
            #expect(try await peer.readResponse().status == 101)
            for number in numbers { #expect(try await peer.readFrame().text == number) }
        }
    }

    @Test("A client that waits for 100 gets it before it sends the body, and only if it waits")
    func expectContinue() async throws {
        try await withPeer { peer in
            let head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            try await peer.send(head)
            #expect(try await peer.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
            try await peer.send("hello")
            #expect(try await peer.readResponse().text == "hello")
            #expect(try await peer.response(to: head + "there").text == "there")
        }
    }

    @Test("A handler that throws is answered with 500 and logged, and the connection goes on")
    func failure() async throws {
        let log = RecordedLog(from: .notice)
        try await withPeer { server in
            Self.configure(&server)
            server.logger = log.logger
            // A machine that is busy may have a loop stand still.
            server.blockedLoopThreshold = nil
        } _: { peer in
            let response = try await peer.response(to: Self.get("/failure"))
            #expect(response.status == 500)
            #expect(response.text == "500 Internal Server Error\nThe server failed to answer this request.\n")
            #expect(response["Connection"] == nil)
            let entries = log.entries
            #expect(entries.map(\.message) == ["a request failed"] && entries.map(\.level) == [.error])
            #expect(entries.first?.metadata == ["error": "Failure()", "path": "/failure"])
            #expect(try await peer.response(to: Self.get("/number/1")).text == "1")
        }
    }

    @Test("A client that ends its side behind the request still gets the answer")
    func halfClosed() async throws {
        try await withPeer { peer in
            try await peer.send(Self.get("/number/0") + Self.get("/number/1"))
            await peer.finishWriting()
            #expect(try await peer.readResponse().text == "0")
            #expect(try await peer.readResponse().text == "1")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A request that is refused at once takes nothing from those behind it, even if the client has ended its side")
    func halfClosedBehindRefusal() async throws {
        try await withPeer { peer in
            let missing = Self.get("/missing")
            try await peer.send(Self.get("/number/0") + missing + missing + Self.get("/number/1"))
            await peer.finishWriting()
            #expect(try await peer.readResponse().text == "0")
            #expect(try await peer.readResponse().status == 404)
            #expect(try await peer.readResponse().status == 404)
            #expect(try await peer.readResponse().text == "1")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("Half a request behind which the client has ended its side can't become whole, and isn't waited for")
    func halfClosedInHead() async throws {
        try await withPeer { peer in
            try await peer.send(Self.get("/missing") + "GET /number/0 HTTP/1.1\r\nHo")
            await peer.finishWriting()
            #expect(try await peer.readResponse().status == 404)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A client that sends requests and doesn't read the answers is held back, and gets all of them in the end")
    func backpressure() async throws {
        let answered = Atomic<Int>(0)
        try await withServer { server in
            server.get("/big") { _ in
                answered.add(1, ordering: .relaxed)
                return Response(body: [UInt8](repeating: 0x42, count: 64 * 1_024))
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let requests = Array(String(repeating: Self.get("/big"), count: 1_000).utf8)
            var sent = 0
            await #expect {
                while true {
                    sent += 1
                    try await peer.socket.write(requests, timeout: .milliseconds(100))
                }
            } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            let held = answered.load(ordering: .relaxed)
            // What the system's buffers hold, and a little more.
            #expect(held < 64 * 16)
            #expect(sent * 1_000 > held)
            for _ in 0..<(held + 100) { #expect(try await peer.readResponse().body.count == 64 * 1_024) }
        }
    }

    @Test("A connection without a request is closed after its time, without a word")
    func idle() async throws {
        try await withMemoryServer(Self.configure) { server in
            let peer = await server.connect()
            for _ in 0..<2 {
                let response = try await peer.response(to: Self.get("/number/1"))
                #expect(response.text == "1")
                await server.loop.advance(by: .seconds(60) - .nanoseconds(1))
            }
            await server.loop.advance(by: .nanoseconds(1))
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A client that resets while it is being answered harms nobody else")
    func vanished() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (gate, open) = AsyncStream<Never>.makeStream()
        try await withServer { server in
            Self.configure(&server)
            server.get("/wait") { _ in
                begin.yield()
                for await _ in gate {}
                return "late"
            }
        } _: { address in
            let vanishing = try await RawPeer.connect(to: address)
            try await vanishing.send(Self.get("/wait"))
            for await _ in begun { break }
            await vanishing.reset()
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.get("/number/1")).text == "1")
            open.finish()
            #expect(try await peer.response(to: Self.get("/number/2")).text == "2")
        }
    }
}
