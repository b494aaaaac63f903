// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Forms")
struct MultipartFormTests {
    private static let type: HTTPFields = [.contentType: "multipart/form-data; boundary=XyZ"]

    private static func body(_ parts: (String, String)...) -> [UInt8] {
        Array((parts.map { "--XyZ\r\n\($0)\r\n\r\n\($1)\r\n" }.joined() + "--XyZ--\r\n").utf8)
    }

    private static let form = body(
        (#"Content-Disposition: form-data; name="text""#, "a text"),
        (
            "Content-Disposition: form-data; name=\"file\"; filename=\"../ä.bin\"\r\nContent-Type: image/png",
            "\u{1}\u{2}"
        ),
        (#"Content-Disposition: form-data; name="last""#, "")
    )

    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.post("/parts") { request in
            var texts: [String] = []
            for try await part in try request.multipart() {
                let bytes = try await part.collect()
                let file = part.filename.map { "\($0)→\(part.safeFilename ?? "")" } ?? "-"
                texts.append("\(part.name) \(file) \(part.mediaType.essence ?? "") \(bytes.count)")
            }
            return texts.joined(separator: "\n")
        }
        server.post("/text") { request in
            for try await part in try request.multipart() where part.name == "text" {
                return try await part.text(limit: 6)
            }
            return "none"
        }
        server.post("/names") { request in
            var names: [String] = []
            for try await part in try request.multipart(limits: MultipartLimits(partCount: 3)) {
                names.append(part.name)
            }
            return names.joined(separator: " ")
        }
        server.post("/form") { request in
            let form = try await request.form(limit: 20)
            return form.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
        }
        try await server.test(body)
    }

    @Test(
        "Parts come with their names and contents, a file's name made safe, however the body is cut",
        arguments: [1, 7, 1_000]
    )
    func parts(size: Int) async throws {
        try await testing { client async throws in
            client.faults = .split(every: size)
            let response = try await client.post("/parts", headers: Self.type, body: Self.form)
            #expect(response.text == "text - text/plain 6\nfile ../ä.bin→ä.bin image/png 2\nlast - text/plain 0")
        }
    }

    @Test("The head of a part may be folded, and the head of a request may not (RFC 9112 section 5.2)")
    func folded() async throws {
        try await withServer { server in
            server.post("/") { request in
                var names: [String] = []
                for try await part in try request.multipart() { names.append("\(part.name) \(part.filename ?? "")") }
                return names.joined(separator: "|")
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let body =
                "--XyZ\r\nContent-Disposition: form-data;\r\n name=\"file\";\r\n\tfilename=\"a.txt\"\r\n\r\nx\r\n--XyZ--"
            let head =
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\nContent-Type: multipart/form-data;"
            let answer = try await peer.response(to: "\(head) boundary=XyZ\r\n\r\n\(body)")
            #expect(answer.status == 200 && answer.text == "file a.txt")
            #expect(try await peer.response(to: "\(head)\r\n boundary=XyZ\r\n\r\n\(body)").status == 400)
        }
    }

    @Test("What is left of a part is passed over, and of the form when the handler returns")
    func skipping() async throws {
        try await testing { client async throws in
            #expect(try await client.post("/names", headers: Self.type, body: Self.form).text == "text file last")
            #expect(try await client.post("/text", headers: Self.type, body: Self.form).text == "a text")
        }
    }

    @Test("Beyond its limits a form is 413, and what is none is 400 or 415")
    func refused() async throws {
        try await testing { client async throws in
            let long = Self.body((#"Content-Disposition: form-data; name="text""#, "a text!"))
            #expect(try await client.post("/text", headers: Self.type, body: long).status == .contentTooLarge)
            let part = (#"Content-Disposition: form-data; name="a""#, "")
            let many = Self.body(part, part, part, part)
            #expect(try await client.post("/names", headers: Self.type, body: many).status == .contentTooLarge)
            #expect(
                try await client.post("/names", headers: Self.type, body: Self.form.dropLast(6)).status == .badRequest
            )
            #expect(try await client.post("/names", body: Self.form).status == .unsupportedMediaType)
            let wrong = Self.body((#"Content-Disposition: form-data; name="text""#, ""))
            #expect(
                try await client.post("/text", headers: [.contentType: "multipart/form-data"], body: wrong).status
                    == .badRequest
            )
        }
    }

    @Test("Names and values are decoded, in their order")
    func form() async throws {
        try await testing { client async throws in
            let type: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            #expect(try await client.post("/form", headers: type, body: "a=1&b=x+y%21&a=".utf8).text == "a=1|b=x y!|a=")
            #expect(try await client.post("/form", headers: type, body: "a=%zz".utf8).status == .badRequest)
            #expect(try await client.post("/form", headers: type, body: [0x61, 0x3D, 0xFF]).status == .badRequest)
            #expect(
                try await client.post("/form", headers: type, body: "a=123456789012345678901".utf8).status
                    == .contentTooLarge
            )
            #expect(try await client.post("/form", body: "a=1".utf8).status == .unsupportedMediaType)
        }
    }

    @Test("A form of any length takes little memory: the client is held back while a part isn't read")
    func backpressure() async throws {
        var server = WebServer(port: 0)
        server.post("/", .bodySize(.unlimited)) { request in
            var count = 0
            for try await part in try request.multipart() { for try await piece in part { count += piece.count } }
            return "\(count)"
        }
        try await server.test { client async throws in
            let content = [UInt8](repeating: 13, count: 4 << 20)
            let head = Array("--XyZ\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n".utf8)
            let response = try await client.post(
                "/",
                headers: Self.type,
                body: head + content + Array("\r\n--XyZ--".utf8)
            )
            #expect(response.text == "\(content.count)")
        }
    }
}

/// What a form and its parts share; see also MultipartFormTests.
@Suite struct MultipartReaderTests {
    @Test("A form that is cut short is none, however often it is asked for more")
    func cut() async throws {
        var server = WebServer(port: 0)
        server.post("/") { request in
            var parts = try request.multipart().makeAsyncIterator()
            _ = try await parts.next()
            do { _ = try await parts.next() } catch { _ = try await parts.next() }
            return "whole"
        }
        try await server.test { client async throws in
            let headers: HTTPFields = [.contentType: "multipart/mixed; boundary=b"]
            let response = try await client.post("/", headers: headers, body: "--b\r\n\r\nfirst\r\n".utf8)
            #expect(response.status == .badRequest)
        }
    }

    @Test("A part that is behind the one that was asked for has nothing more, and a form that is over none")
    func late() async throws {
        var server = WebServer(port: 0)
        server.post("/") { request in
            var parts = try request.multipart().makeAsyncIterator()
            let first = try await parts.next()
            let second = try await parts.next()
            let late = try await first?.collect()
            let present = try await second?.text()
            let again = try await second?.collect()
            let third = try await parts.next()
            let fourth = try await parts.next()
            return "\(late?.count ?? -1) \(present ?? "-") \(again?.count ?? -1) \(third == nil) \(fourth == nil)"
        }
        try await server.test { client async throws in
            let body = "--b\r\n\r\nfirst\r\n--b\r\n\r\nsecond\r\n--b--"
            let response = try await client.post(
                "/",
                headers: [.contentType: "multipart/mixed; boundary=b"],
                body: body.utf8
            )
            #expect(response.text == "0 second 0 true true")
        }
    }
}
