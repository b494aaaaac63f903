// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

// What others make wrong of bodies, forms and fields of requests.

extension PredecessorTests {
    private static let multipart: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]

    /// A server that tells the parts of a form, in the pieces in which it comes.
    private static func parts(of form: String, every size: Int, type: HTTPFields = multipart) async throws -> String {
        var server = WebServer(port: 0)
        server.post("/") { request in
            var lines: [String] = []
            for try await part in try request.multipart() {
                lines.append("\(part.name)|\(part.filename ?? "-")|\(try await part.text())")
            }
            return lines.joined(separator: "\n")
        }
        let text = Mutex("")
        try await server.test { client async throws in
            client.faults = .split(every: size)
            let response = try await client.post("/", headers: type, body: form.utf8)
            text.withLock { $0 = response.status == .ok ? response.text : "\(response.status.code)" }
        }
        return text.withLock { $0 }
    }

    @Test("A form may begin with its boundary at any of its first bytes", arguments: [1, 2, 3, 1_000])
    func boundaryAtTheStart(size: Int) async throws {
        let form = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--"
        // Behind anything but the beginning of a line it is none, up to the last one (RFC 2046 section 5.1.1).
        for (start, expected) in [("", "a|-|1"), ("\r\n", "a|-|1"), ("\n", ""), ("x", ""), ("-", "")] {
            #expect(try await Self.parts(of: start + form, every: size) == expected, "\(start.debugDescription)")
        }
        for whole in ["--b--", "--b--\r\n", "\r\n--b--"] {
            #expect(try await Self.parts(of: whole, every: size) == "", "\(whole.debugDescription)")
        }
        for cut in ["", "-", "--", "--b", "--b-", "\r\n--b"] {
            #expect(try await Self.parts(of: cut, every: size) == "400", "\(cut.debugDescription)")
        }
    }

    @Test("A name is a parameter of its own, not what stands in the name of the file")
    func nameInFilename() async throws {
        let cases = [
            (#"form-data; filename="name=evil.txt"; name="good""#, "good|name=evil.txt|x"),
            (#"form-data; filename="a; name=\"evil\".txt"; name=good"#, "good|a; name=\"evil\".txt|x"),
            (#"form-data; filename="name=evil""#, "|name=evil|x"), (#"form-data; xname="evil""#, "|-|x"),
            (#"form-data; xname=evil; name="good""#, "good|-|x"),
            (#"form-data; name="a"; filename*=UTF-8''%e2%82%ac.txt; filename="euro.txt""#, "a|€.txt|x"),
        ]
        for (disposition, expected) in cases {
            let form = "--b\r\nContent-Disposition: \(disposition)\r\n\r\nx\r\n--b--\r\n"
            #expect(try await Self.parts(of: form, every: 5) == expected, "\(disposition)")
        }
    }

    @Test("A key without a value is one, a key that comes again is there again, and one that is missing is nil")
    func pairs() async throws {
        var server = WebServer(port: 0)
        let told: @Sendable (QueryItems) -> String = { items in
            let all = items.map { "\($0.name):\($0.value)" }.joined(separator: " ")
            return "\(all) | \(items["a"] ?? "nil") \(items[values: "a"]) \(items["file"] ?? "nil")"
        }
        server.post("/form") { request in told(try await request.form()) }
        server.get("/query") { request in told(try request.query) }
        try await server.test { client async throws in
            let type: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let cases = [
                ("a", "a: |  [\"\"] nil"), ("b=1&a&c=2", "b:1 a: c:2 |  [\"\"] nil"),
                ("a=1&b=2&a=3", "a:1 b:2 a:3 | 1 [\"1\", \"3\"] nil"), ("=x", ":x | nil [] nil"),
                ("a=b=c&&", "a:b=c | b=c [\"b=c\"] nil"),
            ]
            for (text, expected) in cases {
                #expect(try await client.post("/form", headers: type, body: text.utf8).text == expected, "\(text)")
                #expect(try await client.get("/query?\(text)").text == expected, "\(text)")
            }
        }
    }

    @Test("A cookie that is empty, has no name or no value leaves the others as they are")
    func cookies() async throws {
        var server = WebServer(port: 0)
        server.get("/") { request in "\(request.cookies["a"] ?? "nil") \(request.cookies["b"] ?? "nil")" }
        try await server.test { client async throws in
            for value in [
                "a=1; ; b=2", "; a=1;; b=2;", ";;;a=1;b=2", "a=1; =; =x; b=2", "a=1; c; b=2", " ;a=1 ; b=2 ; ",
            ] {
                #expect(try await client.get("/", headers: [.cookie: value]).text == "1 2", "\(value)")
            }
            for value in ["", ";", "; ;", "="] {
                #expect(try await client.get("/", headers: [.cookie: value]).text == "nil nil", "\(value)")
            }
        }
    }

    @Test("Fields that come twice are both there")
    func headers() async throws {
        var server = WebServer(port: 0)
        server.get("/") { request in
            "\(request.headers[values: .via]) \(request.headers[values: .acceptLanguage].count)"
        }
        try await server.test { client async throws in
            var headers: HTTPFields = [.via: "one"]
            headers.append(HTTPField(name: .via, value: "two"))
            #expect(try await client.get("/", headers: headers).text == "[\"one\", \"two\"] 0")
        }
    }

    // MARK: Bodies

    @Test("A body in gzip comes out whole where its end falls together with that of a buffer, in every split")
    func gzipEdges() async throws {
        var server = WebServer(port: 0)
        server.use(.bodySize(.kibibytes(256)))
        server.post("/") { request in "\(try await request.body.collect().reduce(0) { $0 + Int($1) })" }
        try await server.test { client async throws in
            let sizes = [0, 1, 32_767, 32_768, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 262_144]
            for size in sizes {
                let content = [UInt8](repeating: 1, count: size)
                let deflated = ContentPool().deflate(content.span.raw, .gzip, level: 9)
                let coded = try #require(deflated)
                for split in [1, 10, 1_000] {
                    client.faults = .split(every: split)
                    let response = try await client.post("/", headers: [.contentEncoding: "gzip"], body: coded)
                    #expect(response.text == "\(size)", "\(size) bytes in pieces of \(split)")
                }
            }
        }
    }

    @Test("Whoever asks for a body that is cut short gets none, by whatever means")
    func truncated() async throws {
        let hasReturned = Mutex<[String]>([])
        var server = WebServer(port: 0)
        let readers: [(String, @Sendable (Request) async throws -> Void)] = [
            ("/collect", { request in _ = try await request.body.collect() }),
            ("/text", { request in _ = try await request.text() }),
            ("/form", { request in _ = try await request.form() }),
            ("/multipart", { request in for try await part in try request.multipart() { _ = try await part.text() } }),
            ("/skipped", { request in for try await _ in try request.multipart() {} }),
            ("/file", { request in _ = try await request.file() }),
            ("/pieces", { request in for try await _ in request.body {} }),
        ]
        for (path, read) in readers {
            server.post("\(path)") { request in
                try await read(request)
                hasReturned.withLock { $0.append(path) }
                return "whole"
            }
        }
        try await server.test { client async throws in
            for (path, _) in readers {
                let isForm = path == "/form"
                let type = isForm ? "application/x-www-form-urlencoded" : "multipart/form-data; boundary=b"
                // All of the form has come, and not all of the body.
                let body = isForm ? "a=1" : "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--\r\n"
                let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
                let counted = "Content-Length: \(body.utf8.count + 1)\r\n\r\n\(body)"
                let size = String(body.utf8.count, radix: 16)
                let chunked = "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n"
                for rest in [counted, chunked, chunked + "0\r\n"] {
                    let connection = await client.connect()
                    try await connection.send(raw: head + rest)
                    await connection.finishWriting()
                    #expect(try await connection.response().status == .badRequest, "\(path): \(rest)")
                    await connection.close()
                }
            }
        }
        #expect(hasReturned.withLock { $0 } == [])
    }
}
