// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What others have paid for, one test for each lesson, with the default limits.
///
/// Some lessons are about what Duplex doesn't have: a console for developers that shows what peers send must escape all
/// of it and be for this machine only; a folder that is served must not be left by a symbolic link; passwords that a
/// server compares must take the same time whether they are right or wrong. That a browser whose deflate is broken is known
/// by its name, where a server accepts compression, is in CompressionQuirksTests.
@Suite("Lessons that others have paid for", .timeLimit(minutes: 2))
struct LessonsTests {
    // MARK: Fragments

    @Test(
        "Tiny and empty fragments don't fill the memory: one too many fails with 1008",
        arguments: Endpoint.allCases,
        [0, 1]
    )
    func tinyFragments(endpoint: Endpoint, size: Int) async throws {
        try await endpoint.open { peer in
            let piece = [UInt8](repeating: 0x61, count: size)
            let allowed = MessageLimits.internet.fragments
            let first = RawFrame(0x1, piece, isFinal: false)
            let middle = [RawFrame](repeating: .continuation(piece, isFinal: false), count: allowed - 2)
            try await peer.send([first] + middle + [.continuation(piece)])
            let echo = try await peer.readFrame()
            #expect(echo.payload.count == size * allowed)
            try await peer.send([first] + middle + [.continuation(piece, isFinal: false), .continuation(piece)])
            try await peer.expectFailure(1_008)
        }
    }

    // MARK: Heads

    /// How much of this thread's time the body takes, whatever else the machine does.
    private static func cost(_ body: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        return (0..<3).map { _ in
            let start = now()
            body()
            return now() - start
        }.min() ?? 0
    }

    private static func judge(_ request: String) {
        var limits = HTTPLimits.unlimited
        limits.headSize = .unlimited
        var parser = RequestHeadParser(limits: limits)
        let bytes = Array(request.utf8)
        var position = 0
        guard let head = try? parser.parse(bytes.span, from: &position) else { return }
        _ = ServerHandshake.evaluate(head, digest: SHA1.digest)
    }

    @Test(
        "Nothing that a head may say takes more than linear time to read",
        arguments: [
            ("Sec-WebSocket-Extensions: ", "a,", "a"), ("Sec-WebSocket-Extensions: a", ";a", ""),
            ("Sec-WebSocket-Extensions: a", " ", "b"), ("Sec-WebSocket-Extensions: a=\"", "\\a", ""),
            ("Sec-WebSocket-Protocol: ", ",", ""), ("Sec-WebSocket-Protocol: a", "\t", "b"),
            ("Connection: Upgrade", ", x", ""), ("Upgrade: websocket", ",\t,", ""), ("Origin: ", "http://", ""),
            ("X: ", " \t", "\u{1}"),
        ]
    )
    func linearTime(name: String, piece: String, end: String) {
        let cost = { (count: Int) in
            let field = name + String(repeating: piece, count: count) + end
            return Self.cost { Self.judge(RawPeer.upgradeRequest("/", field)) }
        }
        // 32 times as much takes 32 times as long, and 1,024 times where time is quadratic. What is measured while the machine
        // has other work may be longer by chance, and is then not longer each time.
        var factors: [Double] = []
        repeat { factors.append(cost(64_000) / cost(2_000)) } while factors.count < 10 && factors.min() ?? 0 > 64
        #expect(factors.min() ?? 0 <= 64, "32 times as much took \(factors) times as long")
    }

    @Test("A head is bounded in bytes, in fields and in time, before anything of it is kept")
    func serverHeads() async throws {
        let long = "X: " + String(repeating: "x", count: 16_384)
        let many = (0..<101).map { "X\($0): y\r\n" }.joined().dropLast(2)
        for field in [long, String(many)] {
            let status = try await withServer { server in
                server.webSocket("/") { _ in }
            } _: { address in
                // The head has no end: it is refused as soon as it is too long.
                let request = RawPeer.upgradeRequest("/", field).dropLast(2)
                return try await RawPeer.connect(to: address).response(to: String(request)).status
            }
            #expect(status == 431)
        }
        let configure: (inout WebServer) -> Void = { $0.limits.http.headTime = .milliseconds(50) }
        try await withServer(configure, firstSent: Array(RawPeer.upgradeRequest().utf8.dropLast(2))) { peer in
            let response = try await peer.readResponse()
            #expect(response.status == 408)
        }
    }

    @Test("An answer's head is bounded in the same way")
    func clientHeads() async throws {
        let start = "HTTP/1.1 101 Switching Protocols\r\n"
        let long = start + "X: " + String(repeating: "x", count: 16_384) + "\r\n"
        let many = start + (0..<101).map { "X\($0): y\r\n" }.joined()
        for answer in [long, many] {
            let error = try await Self.failure(answering: answer)
            #expect(error?.handshake?.code == .malformedResponse)
        }
        var options = WebSocketOptions()
        options.connectTimeout = .milliseconds(500)
        #expect(try await Self.failure(options, answering: start)?.code == .timedOut)
    }

    /// The error of a client that is answered like that, as far as its request comes.
    static func failure(
        _ options: WebSocketOptions = WebSocketOptions(),
        answering text: String
    ) async throws -> WebSocketError? {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url, options: options.patient) }
            let peer = try await accept()
            _ = try? await peer.readHead()
            try? await peer.send(text)
            guard case .failure(let error) = await attempt.result else {
                Issue.record("It came to a connection.")
                return nil
            }
            await peer.reset()
            return error as? WebSocketError
        }
    }

    @Test("A 101 without the accept value, or with another, opens nothing")
    func accept() async throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        let values = ["", "Sec-WebSocket-Accept:\r\n", "Sec-WebSocket-Accept: \(RawPeer.sampleAccept)\r\n"]
        for value in values {
            let error = try await Self.failure(answering: head + value + "\r\n")
            #expect(error?.handshake?.code == .acceptMismatch)
        }
    }

    @Test(
        "What two servers could read in two ways is refused, so that no request is smuggled behind another",
        arguments: [
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: \r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 2\r\n\r\nxx", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n x: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
        ]
    )
    func smuggling(request: String, status: Int) async throws {
        try await withServer { server in
            server.get("/") { _ in "here" }
            server.post("/") { request in "here: \(try await request.body.collect().count)" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(request + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await peer.readResponse().status == status)
            // And nothing behind it is answered.
            #expect(try await peer.isAtEnd())
            await peer.close()
        }
    }

    @Test(
        "Nor is a request smuggled behind a body that its handler leaves",
        arguments: ["zz\r\n\r\n", "-1\r\n\r\n", "0x1\r\nx\r\n0\r\n\r\n", "1\r\nxx\r\n0\r\n\r\n"]
    )
    func smugglingBehindUnread(body: String) async throws {
        try await withServer { server in
            server.on(.post, "/") { _ in "here" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await peer.send(head + body + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await peer.readResponse().text == "here")
            #expect(try await peer.isAtEnd())
            await peer.close()
        }
    }
}
