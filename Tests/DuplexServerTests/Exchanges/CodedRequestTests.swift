// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Requests whose bodies are in codings")
struct CodedRequestTests {
    static func coded(_ text: String, _ coding: ContentCoding = .gzip) throws -> [UInt8] {
        try coded(Array(text.utf8), coding)
    }

    static func coded(_ bytes: [UInt8], _ coding: ContentCoding = .gzip) throws -> [UInt8] {
        let coded = ContentPool().deflate(bytes.span.raw, coding, level: 6)
        return try #require(coded)
    }

    private func testing(
        _ option: RouteOption = .inflatesBodies(true),
        _ body: (TestClient) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.use(.bodySize(.kibibytes(64)), option)
        server.post("/text") { request in
            let length = request.body.length.map { "\($0) " } ?? ""
            return length + String(decoding: try await request.body.collect(), as: UTF8.self)
        }
        server.post("/form") { request in try await request.form()["name"] ?? "none" }
        server.post("/parts") { request in
            var text = ""
            for try await part in try request.multipart() { text += try await part.text() }
            return text
        }
        server.post("/left") { _ in "left" }
        try await server.test(body)
    }

    @Test("Whoever reads the body sees the plain bytes")
    func plain() async throws {
        try await testing { client async throws in
            for coding in ["gzip", "x-gzip", "deflate", "identity, gzip"] {
                let body = try Self.coded("Hello", coding == "deflate" ? .deflate : .gzip)
                #expect(try await client.post("/text", headers: [.contentEncoding: coding], body: body).text == "Hello")
            }
            let twice = try Self.coded("name=value")
            let form = try await client.post(
                "/form",
                headers: [.contentEncoding: "gzip", .contentType: "application/x-www-form-urlencoded"],
                body: twice
            )
            #expect(form.text == "value")
            let parts = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nHello\r\n--b--\r\n"
            let headers: HTTPFields = [.contentEncoding: "gzip", .contentType: "multipart/form-data; boundary=b"]
            #expect(try await client.post("/parts", headers: headers, body: try Self.coded(parts)).text == "Hello")
            let plain = try await client.post("/text", headers: [.contentEncoding: "identity"], body: "Hello".utf8)
            #expect(plain.text == "5 Hello")
        }
    }

    @Test("An unknown coding is answered with 415, and with those that are taken")
    func unknown() async throws {
        let log = OutcomeLog()
        try await testing(log.option) { client async throws in
            for path in ["/text", "/left"] {
                let response = try await client.post(path, headers: [.contentEncoding: "br"], body: [1, 2, 3])
                #expect(try await log.next().outcome.route == path)
                #expect(response.status == .unsupportedMediaType)
                #expect(response.headers[.acceptEncoding] == "gzip, deflate")
                #expect(response.text.contains("br"))
            }
        }
    }

    @Test("What is damaged is answered with 400, what is too long with 413, on either side of its coding")
    func refused() async throws {
        try await testing { client async throws in
            let headers: HTTPFields = [.contentEncoding: "gzip"]
            let good = try Self.coded("Hello")
            #expect(try await client.post("/text", headers: headers, body: good.dropLast()).status == .badRequest)
            #expect(try await client.post("/text", headers: headers, body: "Hello".utf8).status == .badRequest)
            let zeros = try Self.coded(String(repeating: "0", count: 65_537))
            #expect(try await client.post("/text", headers: headers, body: zeros).status == .contentTooLarge)
            let long = [UInt8](repeating: 0, count: 65_537)
            #expect(try await client.post("/text", headers: headers, body: long).status == .contentTooLarge)
            #expect(try await client.post("/left", headers: headers, body: good).text == "left")
        }
    }

    @Test("Where a route sets no bound, a body in two codings has one all the same")
    func twofold() async throws {
        var server = WebServer(port: 0)
        server.post("/", .bodySize(.unlimited)) { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return "\(count)"
        }
        try await server.test { client async throws in
            for (size, status) in [(64 << 20, 200), ((64 << 20) + 1, 413)] {
                let twice = try Self.coded(try Self.coded([UInt8](repeating: 0, count: size)))
                let response = try await client.post("/", headers: [.contentEncoding: "gzip, gzip"], body: twice)
                #expect(twice.count < 4_096 && response.status.code == status)
                if status == 200 { #expect(response.text == "\(size)") }
            }
        }
    }

    @Test("A route may take the bytes as they come")
    func asSent() async throws {
        try await testing(.inflatesBodies(false)) { client async throws in
            let response = try await client.post("/text", headers: [.contentEncoding: "br"], body: "Hello".utf8)
            #expect(response.text == "5 Hello")
        }
    }

    @Test("The connection goes on behind a coded body, in chunks and in one piece")
    func persists() async throws {
        try await withServer { server in
            server.post("/") { request in "\(try await request.body.collect().count)" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let body = try Self.coded(String(repeating: "0", count: 100_000))
            for _ in 0..<3 {
                try await peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n")
                try await peer.send("Content-Length: \(body.count)\r\n\r\n")
                try await peer.send(body)
                #expect(try await peer.readResponse().text == "100000")
                try await peer.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for byte in body { try await peer.send([0x31, 0x0D, 0x0A, byte, 0x0D, 0x0A]) }
                try await peer.send("0\r\n\r\n")
                #expect(try await peer.readResponse().text == "100000")
            }
        }
    }
}
