// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct HTTPServerSessionRespondingTests {
    private func server(_ request: String = "GET / HTTP/1.1\nHost: a\n\n") -> ScriptedServer {
        let server = ScriptedServer()
        _ = server.receive(wire(request))
        return server
    }

    @Test("Fields of the app's that concern framing never reach the wire")
    func framingFields() throws {
        let server = server()
        let headers: HTTPFields = [
            .transferEncoding: "gzip", .contentLength: "999", .connection: "close", .te: "trailers", .server: "x",
        ]
        #expect(server.answer("hello", headers) == .next)
        #expect(server.text == "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello")
    }

    @Test("A field can't begin a line of its own")
    func injection() {
        let server = server()
        server.answer("", [.location: "/\r\nSet-Cookie: evil=1"])
        #expect(!server.text.contains("\r\nSet-Cookie"))
    }

    @Test("A body of unknown length goes in chunks, with trailers behind it")
    func chunks() throws {
        let server = server()
        try server.session.writeHead(ResponseStart(.ok), length: .unknown, into: &server.output)
        for piece in ["hello", "", " world, this is long"] {
            try server.session.writePiece(Array(piece.utf8).span.raw, into: &server.output)
        }
        let trailers: HTTPFields = [.contentLength: "1", .eTag: "\"1\""]
        #expect(server.session.endResponse(trailers: trailers, now: .start, into: &server.output) == .next)
        let body = "5\r\nhello\r\n14\r\n world, this is long\r\n0\r\nETag: \"1\"\r\n\r\n"
        #expect(server.text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    }

    @Test("HTTP/1.0 gets no chunks: the body lasts to the end of the connection")
    func untilClose() throws {
        let server = server("GET / HTTP/1.0\nConnection: keep-alive\n\n")
        try server.session.writeHead(ResponseStart(.ok), length: .unknown, into: &server.output)
        try server.session.writePiece(Array("all".utf8).span.raw, into: &server.output)
        #expect(server.session.endResponse(now: .start, into: &server.output) == .close)
        #expect(server.text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall")
    }

    @Test("HTTP/1.0 keeps the connection where it asks for it and the length is known, and is told so")
    func keepAlive() {
        let server = server("GET / HTTP/1.0\nConnection: keep-alive\n\n")
        #expect(server.answer("x") == .next)
        #expect(server.text.contains("Connection: keep-alive\r\n"))
    }

    @Test(
        "There is no body in answer to HEAD and with 204 and 304, whatever the app writes",
        arguments: [
            ("HEAD", HTTPResponse.Status.ok, "Content-Length: 2\r\n"), ("GET", .noContent, ""),
            ("GET", .notModified, ""), ("HEAD", .noContent, ""),
        ]
    )
    func bodiless(method: String, status: HTTPResponse.Status, headers: String) {
        let server = server("\(method) / HTTP/1.1\nHost: a\n\n")
        #expect(server.answer("hi", status: status) == .next)
        #expect(server.text.hasSuffix(" \(status.reasonPhrase)\r\n\(headers)\r\n"))
        #expect(!server.isAnswering)
    }

    @Test("More than was promised is refused, and less cuts the connection")
    func promisedLength() throws {
        let server = server()
        try server.session.writeHead(ResponseStart(.ok), length: .bytes(3), into: &server.output)
        #expect {
            try server.session.writePiece(Array("four".utf8).span.raw, into: &server.output)
        } throws: {
            ($0 as? HTTPProtocolError)?.code == .wrongLength
        }
        try server.session.writePiece(Array("ab".utf8).span.raw, into: &server.output)
        #expect(server.session.endResponse(now: .start, into: &server.output) == .cut)
        #expect(server.isOver)
    }

    @Test("A Content-Length of the app's holds a body of unknown length to it")
    func appLength() throws {
        let server = server()
        try server.session.writeHead(ResponseStart(.ok), [.contentLength: "2"], length: .unknown, into: &server.output)
        try server.session.writePiece(Array("ab".utf8).span.raw, into: &server.output)
        #expect(server.session.endResponse(now: .start, into: &server.output) == .next)
        #expect(server.text == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
    }

    // MARK: Order

    @Test("100 goes out when the app first wants the body, once, and never behind the response")
    func hundredContinue() {
        let request = "POST / HTTP/1.1\nHost: a\nContent-Length: 2\nExpect: 100-continue\n\n"
        let server = server(request)
        #expect(server.output.isEmpty)
        server.session.wantBody(into: &server.output)
        server.session.wantBody(into: &server.output)
        #expect(server.text == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(server.receive(wire("ab")) == ["body ab", "end"])
        #expect(server.answer("x") == .next)

        let late = self.server(request)
        #expect(late.answer("x") == .close)
        let sent = late.output.count
        late.session.wantBody(into: &late.output)
        #expect(late.output.count == sent && late.text.contains("Connection: close\r\n"))
    }

    @Test("A client that sends its body without having waited isn't told to")
    func impatient() {
        let server = server("POST / HTTP/1.1\nHost: a\nContent-Length: 2\nExpect: 100-continue\n\na")
        server.session.wantBody(into: &server.output)
        #expect(server.output.isEmpty)
    }

    @Test("Interim responses come before the final one and not behind, and HTTP/1.0 gets none")
    func interim() throws {
        let server = server()
        try server.session.writeInterim(.earlyHints, [.server: "</a>", .contentLength: "1"], into: &server.output)
        #expect(server.text == "HTTP/1.1 103 Early Hints\r\nServer: </a>\r\n\r\n")
        server.answer("x")
        #expect(throws: HTTPProtocolError.self) {
            try server.session.writeInterim(.earlyHints, [:], into: &server.output)
        }
        let old = self.server("GET / HTTP/1.0\n\n")
        try old.session.writeInterim(.earlyHints, [:], into: &old.output)
        #expect(old.output.isEmpty)
    }

    @Test("A head that nobody asked for, a second one, and a piece without a head are errors")
    func order() throws {
        let idle = ScriptedServer()
        #expect(throws: HTTPProtocolError.self) {
            try idle.session.writeHead(ResponseStart(.ok), length: .bytes(0), into: &idle.output)
        }
        #expect(throws: HTTPProtocolError.self) { _ = try idle.session.beginPiece(1, into: &idle.output) }
        let server = server()
        try server.session.writeHead(ResponseStart(.ok), length: .unknown, into: &server.output)
        #expect(throws: HTTPProtocolError.self) {
            try server.session.writeHead(ResponseStart(.ok), length: .bytes(0), into: &server.output)
        }
        #expect(throws: HTTPProtocolError.self) {
            try server.session.switchProtocols(ResponseHead(status: .switchingProtocols), into: &server.output)
        }
    }

    // MARK: Switching

    @Test("101 ends HTTP on the connection; what follows isn't taken")
    func switching() throws {
        let server = server("GET / HTTP/1.1\nHost: a\nUpgrade: x\n\n")
        let head = ResponseHead(status: .switchingProtocols, headers: [.upgrade: "x", .connection: "Upgrade"])
        try server.session.switchProtocols(head, into: &server.output)
        #expect(server.text == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
        #expect(server.session.isOver && !server.session.isAnswering)
        #expect(server.receive(wire("GET / HTTP/1.1\nHost: a\n\n")) == [])
    }

    @Test("Upgrade is named in Connection, as with 426")
    func upgradeRequired() {
        let server = server()
        server.answer("", status: .upgradeRequired, [.upgrade: "websocket"])
        #expect(server.text.contains("\r\nConnection: Upgrade\r\n"))
    }

    @Test("Lengths and sizes of chunks are written in full", arguments: [0, 1, 9, 10, 15, 16, 255, 4_096, 1_000_000])
    func numbers(count: Int) throws {
        let server = server()
        #expect(server.answer(String(repeating: "x", count: count)) == .next)
        #expect(server.text.contains("Content-Length: \(count)\r\n"))
        guard count > 0 else { return }
        let chunked = self.server()
        try chunked.session.writeHead(ResponseStart(.ok), length: .unknown, into: &chunked.output)
        let before = chunked.output.count
        _ = try chunked.session.beginPiece(count, into: &chunked.output)
        #expect(chunked.output[before...].elementsEqual("\(String(count, radix: 16))\r\n".utf8))
    }
}
