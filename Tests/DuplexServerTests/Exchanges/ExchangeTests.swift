// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

/// Bodies as streams, both ways.
@Suite(.timeLimit(minutes: 1)) struct ExchangeTests {
    private static func post(_ path: String, _ body: String, _ headers: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test("A handler gets the body piece by piece while it comes, and may answer each piece at once")
    func echo() async throws {
        try await withServer { server in
            server.post("/echo") { request in
                Response { writer in
                    for try await piece in request.body { try await writer.write(piece) }
                }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            #expect(try await peer.readHead().contains("Transfer-Encoding: chunked"))
            for text in ["one", "two", "three"] {
                let size = String(text.utf8.count, radix: 16)
                try await peer.send("\(size)\r\n\(text)\r\n")
                let echo = try await peer.read(exactly: size.utf8.count + text.utf8.count + 4)
                #expect(String(decoding: echo, as: UTF8.self) == "\(size)\r\n\(text)\r\n")
            }
            try await peer.send("0\r\n\r\n")
            #expect(try await peer.read(exactly: 5) == Array("0\r\n\r\n".utf8))
            // And the connection goes on.
            #expect(try await peer.response(to: "GET /no HTTP/1.1\r\nHost: a\r\n\r\n").status == 404)
        }
    }

    @Test("A handler may answer without reading the body; a short rest is read past, and the connection goes on")
    func unread() async throws {
        try await withServer { server in
            server.post("/") { _ in "done" }
            server.on(.put, "/") { _ in "at once" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for (method, text) in [("POST", "done"), ("PUT", "at once")] {
                let request = Self.post("/", "some body").replacing("POST", with: method)
                #expect(try await peer.response(to: request).text == text)
            }
            #expect(try await peer.response(to: Self.post("/", "again")).text == "done")
        }
    }

    @Test("A client that goes on sending a body that nobody reads still gets the whole response")
    func unreadFlood() async throws {
        let text = String(repeating: "x", count: 8 * 1_024)
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x42, count: 65_536) + Array("\r\n".utf8)
        // The server waits for the rest for two seconds only, which may be over between two of several sends.
        let request = head + (0..<8).flatMap { _ in chunk }
        let configure: @Sendable (inout WebServer) -> Void = { server in
            server.limits = .unlimited
            server.post("/") { _ in text }
        }
        try await withServer(configure, firstSent: request) { peer in
            let response = try await peer.readResponse()
            #expect(response.text == text)
        }
    }

    @Test("A client that waits for 100 isn't told to send a body that nobody reads")
    func expectation() async throws {
        try await withServer { server in
            server.post("/no") { _ in HTTPResponse.Status.forbidden }
            server.post("/yes") { request in "\(try await request.body.collect().count)" }
        } _: { address in
            let refused = try await RawPeer.connect(to: address)
            try await refused.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            let response = try await refused.readResponse()
            #expect(response.status == 403 && response["Connection"] == "close")
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("POST /yes HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await peer.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
            try await peer.send("abc")
            #expect(try await peer.readResponse().text == "3")
        }
    }

    @Test("A body beyond the limit of its route gets 413, announced or not; another route's limit doesn't matter")
    func limits() async throws {
        try await withServer { server in
            server.limits.http.bodySize = 4
            server.post("/small") { request in "\(try await request.body.collect().count)" }
            server.post("/large", .bodySize(64)) { request in "\(try await request.body.collect().count)" }
            server.post("/own", .bodySize(64)) { request in "\(try await request.body.collect(limit: 2).count)" }
        } _: { address in
            let chunked = "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n"
            let cases = [
                (Self.post("/small", "1234"), 200), (Self.post("/small", "12345"), 413), (chunked, 413),
                (Self.post("/large", "12345"), 200), (Self.post("/own", "123"), 413),
            ]
            for (request, status) in cases {
                let peer = try await RawPeer.connect(to: address)
                #expect(try await peer.response(to: request).status == status, "\(request)")
            }
        }
    }

    @Test("What comes behind a body in chunks is there as trailers, and a response has trailers of its own")
    func trailers() async throws {
        try await withServer { server in
            server.post("/") { request in
                var count = 0
                for try await piece in request.body { count += piece.count }
                let trailers = await request.body.trailers
                let sum = trailers[.eTag] ?? "none"
                return Response { writer in
                    try await writer.write("\(sum)")
                    await writer.setTrailers([.eTag: "x"])
                }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nETag: sum\r\n\r\n"
            )
            #expect(try await peer.readHead().contains("200 OK"))
            let rest = "3\r\nsum\r\n0\r\nETag: x\r\n\r\n"
            #expect(try await peer.read(exactly: rest.utf8.count) == Array(rest.utf8))
        }
    }

    @Test("A response that fails in the middle cuts the connection: nobody takes it for whole")
    func failing() async throws {
        struct Broken: Error {}
        try await withServer { server in
            server.get("/unknown") { _ in
                Response { writer in
                    try await writer.write("some")
                    throw Broken()
                }
            }
            server.get("/short") { _ in
                Response(body: .writer(length: 10) { writer in try await writer.write("some") })
            }
        } _: { address in
            for path in ["/unknown", "/short"] {
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                await #expect(throws: (any Error).self) {
                    let bytes = try await peer.readToEnd()
                    let text = String(decoding: bytes, as: UTF8.self)
                    #expect(!text.hasSuffix("0\r\n\r\n"))
                    throw Broken()
                }
            }
        }
    }

    @Test("A writer waits for a client that doesn't read, and goes on when it does")
    func backpressure() async throws {
        let written = Atomic<Int>(0)
        let piece = [UInt8](repeating: 0x42, count: 64 * 1_024)
        let total = 1_024
        try await withServer { server in
            server.get("/") { _ in
                Response(
                    body: .writer(length: total * piece.count) { writer in
                        for _ in 0..<total {
                            try await writer.write(piece)
                            written.add(1, ordering: .relaxed)
                        }
                    }
                )
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await peer.readHead()
            // What the system's buffers hold on both sides is far less than all.
            #expect(written.load(ordering: .relaxed) < total / 2)
            for _ in 0..<total { _ = try await peer.read(exactly: piece.count) }
            #expect(try await peer.response(to: "GET /no HTTP/1.1\r\nHost: a\r\n\r\n").status == 404)
        }
    }

    @Test("A client whose handler doesn't read is held back, and all of its body comes in the end")
    func slowReader() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let size = 64 * 1_024 * 1_024
        try await withServer { server in
            server.limits = .unlimited
            server.post("/") { request in
                for await _ in gate {}
                var count = 0
                for try await piece in request.body { count += piece.count }
                return "\(count)"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
            let chunk = [UInt8](repeating: 0x42, count: 1_024 * 1_024)
            // More than the system's buffers hold: the write can't end before the handler reads.
            await #expect {
                try await peer.socket.write(
                    chunk + chunk + chunk + chunk + chunk + chunk + chunk + chunk,
                    timeout: .milliseconds(50)
                )
            } throws: { ($0 as? SocketError)?.code == .timedOut }
            open.finish()
            for _ in 0..<56 { try await peer.socket.write(chunk) }
            #expect(try await peer.readResponse().text == "\(size)")
        }
    }

    // MARK: Clients that go

    @Test("A response without an end keeps nobody else on the loop waiting, nor does one of nothing but empty pieces")
    func endless() async throws {
        let group = try EventLoopGroup(loops: 1)
        try await withServer { server in
            server.eventLoops = group
            server.get("/endless") { _ in
                Response { writer in
                    while true { try await writer.write([UInt8](repeating: 0, count: 65_536)) }
                }
            }
            server.get("/empty") { _ in Response { writer in while true { try await writer.write([]) } } }
            server.get("/other") { _ in "still here" }
        } _: { address in
            let empty = try await RawPeer.connect(to: address)
            try await empty.send("GET /empty HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await empty.readHead()
            let fast = try await RawPeer.connect(to: address)
            try await fast.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await fast.readHead()
            let reading = Task { while true { _ = try await fast.read(exactly: 65_536) } }
            let other = try await RawPeer.connect(to: address)
            for _ in 0..<20 {
                #expect(try await other.response(to: "GET /other HTTP/1.1\r\nHost: a\r\n\r\n").text == "still here")
            }
            for peer in [empty, fast] { await peer.reset() }
            _ = await reading.result
        }
        await group.stop()
    }

    @Test("A handler that reads a body learns that its client has gone, and so does one that writes")
    func goneInBody() async throws {
        let (ends, end) = AsyncStream<String>.makeStream()
        try await withServer { server in
            server.post("/read") { request in
                do { for try await _ in request.body {} } catch { end.yield("read \(type(of: error))") }
                return ""
            }
            server.get("/write") { _ in
                Response { writer in
                    do {
                        while true { try await writer.write([UInt8](repeating: 0, count: 65_536)) }
                    } catch {
                        end.yield("write \(type(of: error))")
                        throw error
                    }
                }
            }
        } _: { address in
            var results = ends.makeAsyncIterator()
            let reader = try await RawPeer.connect(to: address)
            try await reader.send("POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
            await reader.finishWriting()
            #expect(await results.next() == "read HTTPProtocolError")
            let writer = try await RawPeer.connect(to: address)
            try await writer.send("GET /write HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await writer.readHead()
            await writer.reset()
            #expect(await results.next()?.hasPrefix("write ") == true)
        }
    }
}
