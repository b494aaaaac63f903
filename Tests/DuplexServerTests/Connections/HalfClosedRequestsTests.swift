// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

/// Clients that end their sending side after a request and go on reading (RFC 9112 section 9.6).
@Suite("Clients that have only ended their sending side", .timeLimit(minutes: 1))
struct HalfClosedRequestsTests {
    private static func get(_ path: String, version: String = "1.1") -> String {
        HalfClosedAccess.get(path, version: version)
    }

    private static func serve(_ gate: HandlerGate, _ server: inout WebServer) {
        server.get("/wait") { _ in await gate.wait() }
        server.post("/body") { request in
            let body = try await request.body.collect()
            return "\(await gate.wait()) \(body.count)"
        }
        server.post("/unread") { _ in await gate.wait() }
    }

    /// Runs a server whose handlers wait for the gate.
    private static func with(
        _ way: AccessWay,
        _ body: @escaping @Sendable (HalfClosedAccess, HandlerGate) async throws -> Void
    ) async throws {
        let gate = HandlerGate()
        try await HalfClosedAccess.with(way) {
            serve(gate, &$0)
        } _: { access in
            try await body(access, gate)
        }
    }

    // MARK: Whole requests

    @Test(
        "A handler that waits goes on, its response arrives whole, and the connection ends after it",
        arguments: AccessWay.allCases,
        ["1.0", "1.1"]
    )
    func waiting(way: AccessWay, version: String) async throws {
        try await Self.with(way) { access, gate async throws in
            let peer = try await access.connect()
            try await peer.send(Self.get("/wait", version: version))
            await gate.hasBegun()
            await peer.finishWriting()
            try await access.settle()
            gate.open()
            let response = try await peer.readResponse()
            #expect(response.status == 200 && response.text == "waited" && response["Connection"] == "close")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test(
        "So does one that has read a body, by its length, in chunks, or after 100 Continue",
        arguments: AccessWay.allCases,
        [
            "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        ]
    )
    func bodies(way: AccessWay, rest: String) async throws {
        try await Self.with(way) { access, gate async throws in
            let peer = try await access.connect()
            try await peer.send("POST /body HTTP/1.1\r\nHost: localhost\r\n" + rest)
            await peer.finishWriting()
            await gate.hasBegun()
            try await access.settle()
            gate.open()
            var response = try await peer.readResponse()
            if response.status == 100 { response = try await peer.readResponse() }
            #expect(response.status == 200 && response.text == "waited 5")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("Requests that were pipelined are answered in order", arguments: AccessWay.allCases)
    func pipelined(way: AccessWay) async throws {
        try await Self.with(way) { access, gate async throws in
            let peer = try await access.connect()
            let post = "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
            try await peer.send(Self.get("/wait") + post + Self.get("/missing") + Self.get("/wait"))
            await gate.hasBegun()
            await peer.finishWriting()
            try await access.settle()
            gate.open()
            #expect(try await peer.readResponse().text == "waited")
            #expect(try await peer.readResponse().text == "waited 5")
            #expect(try await peer.readResponse().status == 404)
            #expect(try await peer.readResponse().text == "waited")
            #expect(try await peer.isAtEnd())
        }
    }

    // MARK: Requests that are cut

    @Test(
        "A handler whose body is cut learns it where it reads, and one that doesn't read is answered as ever",
        arguments: AccessWay.allCases,
        [("body", 400), ("unread", 200)]
    )
    func cut(way: AccessWay, outcome: (path: String, status: Int)) async throws {
        try await Self.with(way) { access, gate async throws in
            let peer = try await access.connect()
            let post = "POST /\(outcome.path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhe"
            try await peer.send(Self.get("/wait") + post)
            await gate.hasBegun()
            await peer.finishWriting()
            try await access.settle()
            gate.open()
            #expect(try await peer.readResponse().text == "waited")
            let response = try await peer.readResponse()
            #expect(response.status == outcome.status, "\(response.text)")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A client that waits for 100 Continue and never sends its body gets 400", arguments: AccessWay.allCases)
    func cutBehindExpectation(way: AccessWay) async throws {
        try await Self.with(way) { access, _ async throws in
            let peer = try await access.connect()
            let headers = "Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
            try await peer.send("POST /body HTTP/1.1\r\n" + headers)
            await peer.finishWriting()
            var response = try await peer.readResponse()
            if response.status == 100 { response = try await peer.readResponse() }
            #expect(response.status == 400)
            #expect(try await peer.isAtEnd())
        }
    }

    // MARK: Clients that take their time

    @Test("Responses wait for a client that reads late", arguments: AccessWay.allCases)
    func backpressure(way: AccessWay) async throws {
        let size = 16 << 20
        let whole = [UInt8](repeating: 0x42, count: size)
        let pieces = [UInt8](repeating: 0x43, count: size)
        try await HalfClosedAccess.with(way) { server in
            server.get("/bytes") { _ in
                await Task.yield()
                return Response(body: whole)
            }
            server.get("/pieces") { _ in
                Response(headers: [.contentLength: "\(size)"]) { writer in
                    for start in stride(from: 0, to: size, by: 65_536) {
                        try await writer.write(Array(pieces[start..<(start + 65_536)]))
                    }
                }
            }
        } _: { access in
            let peer = try await access.connect()
            try await peer.send(Self.get("/pieces") + Self.get("/bytes") + Self.get("/pieces"))
            await peer.finishWriting()
            try await access.settle()
            for expected in [pieces, whole, pieces] {
                let body = try await peer.readResponse().body
                let isWhole = body == expected
                #expect(isWhole)
            }
            #expect(try await peer.isAtEnd())
        }
    }

    // MARK: Other ends

    @Test("A server that shuts down cancels the handler, as it does any, and sends its response")
    func shutdown() async throws {
        let gate = HandlerGate()
        try await withMemoryServer {
            Self.serve(gate, &$0)
        } _: { server in
            let peer = await server.connect()
            try await peer.send(Self.get("/wait"))
            await gate.hasBegun()
            await peer.finishWriting()
            await server.loop.settle()
            await server.beginToEnd()
            let response = try await peer.readResponse()
            #expect(response.status == 200 && response.text == "cancelled")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A handler that takes longer than its limit is cancelled, and the client gets 503")
    func timeLimit() async throws {
        let gate = HandlerGate()
        try await withMemoryServer { server in
            server.use(.timeLimit(.seconds(5)))
            Self.serve(gate, &server)
        } _: { server in
            let peer = await server.connect()
            try await peer.send(Self.get("/wait"))
            await gate.hasBegun()
            await peer.finishWriting()
            await server.loop.advance(by: .seconds(5))
            #expect(try await peer.readResponse().status == 503)
            #expect(await gate.next() == "cancelled")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("The record of the request says how it was answered")
    func outcome() async throws {
        let gate = HandlerGate()
        let outcomes = Mutex<[String]>([])
        try await withMemoryServer { server in
            server.use(
                .completed { _, outcome in
                    let text = "\(outcome.status?.code ?? 0)\(outcome.isIncomplete ? " cut" : "")"
                    outcomes.withLock { $0.append(text) }
                }
            )
            Self.serve(gate, &server)
        } _: { server in
            let (reading, resetting) = (await server.connect(), await server.connect())
            for peer in [reading, resetting] {
                try await peer.send(Self.get("/wait"))
                await gate.hasBegun()
                await peer.finishWriting()
            }
            await server.loop.settle()
            await resetting.reset()
            await server.loop.settle()
            gate.open()
            #expect(try await reading.readResponse().text == "waited")
            #expect(outcomes.withLock { $0 } == ["0 cut", "200"])
        }
    }

    @Test("A request for a WebSocket is still refused in words; one that is accepted ends without a WebSocket")
    func upgrade() async throws {
        let gate = HandlerGate()
        try await HalfClosedAccess.with(.tcp) { server in
            server.webSocket("/socket") { request in
                let outcome = await gate.wait()
                if request.headers[.cookie] == "user=1" { return .accepted }
                return .refused(Response(.forbidden, body: Array(outcome.utf8)))
            } handler: { _, _ in
                Issue.record("A WebSocket was opened.")
            }
        } _: { access in
            let (refused, accepted) = (try await access.connect(), try await access.connect())
            try await refused.send(RawPeer.upgradeRequest("/socket"))
            try await accepted.send(RawPeer.upgradeRequest("/socket", "Cookie: user=1"))
            for peer in [refused, accepted] {
                await gate.hasBegun()
                await peer.finishWriting()
            }
            try await access.settle()
            gate.open()
            let response = try await refused.readResponse()
            #expect(response.status == 403 && response.text == "waited")
            #expect(try await refused.isAtEnd())
            #expect(try await accepted.isAtEnd())
        }
    }

    @Test("Behind the header of a proxy it is the same")
    func proxied() async throws {
        let gate = HandlerGate()
        let header = "PROXY TCP4 192.0.2.1 192.0.2.200 4000 80\r\n"
        try await HalfClosedAccess.with(.tcp) { server in
            server.listener.proxyProtocol = .required(from: IPNetwork.loopback)
            Self.serve(gate, &server)
        } _: { access in
            let peer = try await access.connect()
            try await peer.send(header + Self.get("/wait"))
            await peer.finishWriting()
            await gate.hasBegun()
            let other = try await access.connect()
            #expect(try await other.response(to: header + Self.get("/settled")).text == "settled")
            await other.reset()
            gate.open()
            #expect(try await peer.readResponse().text == "waited")
            #expect(try await peer.isAtEnd())
        }
    }
}
