// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexTesting

@Suite("A connection to a server under test")
struct TestConnectionTests {
    private func withConnection(
        _ configure: (inout WebServer) -> Void,
        _ body: (TestClient, TestConnection) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        configure(&server)
        try await server.test { client in try await body(client, await client.connect()) }
    }

    @Test("It carries several requests, also sent in a row, and each gets its own response")
    func requests() async throws {
        try await withConnection { server in
            server.get("/:n") { request in request.parameters["n"] ?? "" }
            server.post("/length") { request in "\(try await request.body.collect().count)" }
        } _: { _, connection in
            #expect(try await connection.get("/1").text == "1")
            #expect(try await connection.request(.post, "/length", body: "hello".utf8).text == "5")
            try await connection.send(.head, "/2")
            try await connection.send(.post, "/length")
            try await connection.send(.get, "/3")
            let head = try await connection.response()
            #expect(head.headers[.contentLength] == "1" && head.body.isEmpty)
            #expect(try await connection.response().text == "0")
            #expect(try await connection.response().text == "3")
        }
    }

    @Test("Bytes go as they are, and what comes is received as it is")
    func raw() async throws {
        try await withConnection {
            $0.get("/") { _ in "page" }
        } _: { client, connection in
            try await connection.send(raw: "GET / HTTP/1.1\r\nHost: local")
            try await connection.send(raw: Array("host\r\n\r\n".utf8))
            #expect(try await connection.response().text == "page")
            try await connection.send(raw: "nonsense\r\n\r\n")
            let bytes = try await connection.receiveAll()
            #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
            #expect(try await connection.receive() == nil)
            await connection.close()
        }
    }

    @Test("A body goes in pieces, and comes in pieces while the handler makes it")
    func pieces() async throws {
        try await withConnection { server in
            server.post("/echo") { request in
                Response { writer in
                    for try await piece in request.body { try await writer.write(piece) }
                    await writer.setTrailers(await request.body.trailers)
                }
            }
        } _: { _, connection in
            try await connection.begin(.post, "/echo")
            try await connection.write("one".utf8)
            #expect(try await connection.head().status == .ok)
            #expect(try await connection.piece() == Array("one".utf8))
            try await connection.write([])
            try await connection.write("two".utf8)
            #expect(try await connection.piece() == Array("two".utf8))
            try await connection.finish(trailers: [.eTag: "x"])
            #expect(try await connection.piece() == nil)
            #expect(await connection.trailers == [.eTag: "x"])
            try await connection.begin(.post, "/echo", headers: [.contentLength: "2"])
            try await connection.write("ab".utf8)
            try await connection.finish()
            #expect(try await connection.response().text == "ab")
        }
    }

    @Test("A client that ends its side still gets the response")
    func halfClose() async throws {
        try await withConnection { server in
            server.get("/") { _ in "page" }
        } _: { _, connection in
            try await connection.send(.get, "/")
            await connection.finishWriting()
            #expect(try await connection.response().text == "page")
            #expect(try await connection.receive() == nil)
        }
    }

    @Test("The network of one connection goes wrong alone")
    func faults() async throws {
        try await withConnection { server in
            server.get("/") { _ in "page" }
        } _: { client, connection in
            connection.network.setFaults(.reset(after: 20, in: .toClient))
            await #expect(throws: SocketError.self) { try await connection.get("/") }
            #expect(connection.network.received(.toClient) == 20)
            let response = try await client.get("/")
            #expect(response.text == "page")
        }
    }

    @Test("An end without a response, a response that is cut, and a request against the rules are errors")
    func errors() async throws {
        try await withConnection { server in
            server.get("/") { _ in "page" }
        } _: { client, connection in
            await connection.finishWriting()
            let error = await #expect(throws: SocketError.self) { try await connection.response() }
            #expect(error?.code == .endOfStream)
            let cut = await client.connect()
            cut.network.setFaults(.end(after: 20, in: .toClient))
            await #expect(throws: HTTPProtocolError.self) { try await cut.get("/") }
            let wrong = await client.connect()
            await #expect(throws: HTTPProtocolError.self) { try await wrong.get("no path") }
            await wrong.reset()
        }
    }
}

@Suite("What reads the responses of a server under test")
struct ResponseReaderTests {
    /// What came of the pieces: of each response its head, its body and its end.
    private static func read(_ pieces: [[UInt8]], answering method: HTTPRequest.Method = .get) -> [String] {
        var reader = ResponseReader()
        var said: [String] = []
        do {
            for piece in pieces {
                reader.append(piece)
                while try take(&reader, method, &said) {}
            }
            try reader.finish()
            while try take(&reader, method, &said) {}
        } catch {
            said.append("\(error.code)")
        }
        return said
    }

    /// Takes the next thing; false when more bytes are needed.
    private static func take(
        _ reader: inout ResponseReader,
        _ method: HTTPRequest.Method,
        _ said: inout [String]
    ) throws(HTTPProtocolError) -> Bool {
        guard reader.isMidBody else {
            guard let head = try reader.nextHead(answering: method) else { return false }
            said.append(head.status.kind == .informational ? "interim \(head.status.code)" : "\(head.status.code):")
            return true
        }
        switch try reader.nextPiece() {
        case nil: return false
        case .bytes(let bytes): said[said.count - 1] += String(decoding: bytes, as: UTF8.self)
        case .end: said.append("end" + reader.trailers.map { " \($0.name): \($0.value)" }.joined())
        }
        return true
    }

    @Test("Responses in every framing come out the same in every split")
    func framings() throws {
        let input = """
            HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
            HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 204 No Content\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 7\r\n\r\n\
            HTTP/1.1 200 OK\r\n\r\nto the end
            """
        let expected = ["interim 103", "200:hello", "end", "204:", "end", "200:abcde", "end X-Sum: 7"]
        try SplitVerifier().verify(Array(input.utf8)) { Self.read($0) }
        #expect(Self.read([Array(input.utf8)]) == expected + ["200:to the end", "end"])
    }

    @Test("The answer to HEAD has no body")
    func head() {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)
        #expect(Self.read([bytes], answering: .head) == ["200:", "end"])
    }

    @Test(
        "A response that is cut is an error",
        arguments: ["HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"]
    )
    func truncated(text: String) {
        #expect(Self.read([Array(text.utf8)]).last == "truncated")
    }

    @Test("What comes behind a switch of protocols is left")
    func rest() throws {
        var reader = ResponseReader()
        reader.append(Array("HTTP/1.1 101 Switching Protocols\r\n\r\nrest".utf8))
        #expect(try reader.nextHead(answering: .get)?.status == .switchingProtocols)
        #expect(reader.takeRest() == Array("rest".utf8) && reader.takeRest() == [])
    }
}
