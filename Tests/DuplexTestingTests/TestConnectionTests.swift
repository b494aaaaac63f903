// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("A connection to a server under test")
struct TestConnectionTests {
    private func withConnection(
        _ configure: (inout WebServer) -> Void,
        _ body: (TestClient, TestConnection) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        configure(&server)
        try await WebServer.testing(server) { client in try await body(client, await client.connect()) }
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
            #expect(head.fields[.contentLength] == "1" && head.body.isEmpty)
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
            try await connection.begin(.post, "/echo", fields: [.contentLength: "2"])
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
            await #expect(throws: HTTPError.self) { try await cut.get("/") }
            let wrong = await client.connect()
            await #expect(throws: HTTPError.self) { try await wrong.get("no path") }
            await wrong.reset()
        }
    }
}
