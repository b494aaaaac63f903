// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes
import Logging

/// A web server with routes of every kind, for clients that others wrote.
enum DemoServer {
    static func make() throws -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.get("/hello") { _ in "Hello, world!" }
        server.get("/port") { request in "\(request.remoteAddress?.port ?? 0)" }
        server.get("/tagged") { _ in Response(type: "text/plain", headers: [.eTag: "\"v1\""], body: "tagged") }
        server.get("/moved") { _ in .redirect(to: "/hello") as Response }
        server.post("/moved") { _ in .redirect(to: "/json", .temporaryRedirect) as Response }
        server.get("/page") { _ in .html(page) as Response }
        server.get("/stream") { _ in
            Response(type: "text/plain") { writer in
                for number in 0..<1_000 { try await writer.write("line \(number)\n") }
            }
        }
        server.get("/hinted", .earlyHints) { request in
            try await request.sendEarlyHints("</style.css>; rel=preload; as=style")
            return "hinted"
        }
        server.group("/compressed", .compressResponses()) { compressed in
            compressed.get("/text") { _ in String(repeating: "compressed ", count: 1_000) }
            compressed.get("/stream") { _ in
                Response(type: "text/plain") { writer in
                    for number in 0..<1_000 { try await writer.write("line \(number)\n") }
                }
            }
        }
        server.events("/ticks") { stream in for number in 0..<3 { try await stream.send("\(number)") } }
        addBodies(&server)
        try addCookies(&server)
        addSharing(&server)
        return server
    }

    private static func addBodies(_ server: inout WebServer) {
        server.post("/json") { request in
            guard request.contentType?.matches("application/json") == true else {
                throw HTTPProtocolError(.unsupportedMediaType, "no JSON")
            }
            return Response(type: "application/json", body: try await request.body.collect())
        }
        server.post("/form") { request in
            try await request.form().map { "\($0.name)=\($0.value)\n" }.joined()
        }
        server.post("/upload", .bodySize(.mebibytes(2))) { request in
            var lines = ""
            for try await part in try request.multipart() {
                var sum = Adler32()
                for try await piece in part { sum.add(piece) }
                lines += "\(part.name) \(part.safeFilename ?? "-") \(sum)\n"
            }
            return Response.text(lines, status: .created)
        }
        server.on(.put, "/raw", .bodySize(.mebibytes(2))) { request in
            var sum = Adler32()
            for try await piece in request.body { sum.add(piece) }
            // What a proxy makes of the body is its own affair.
            if request.headers[.xForwarded] != nil { return "\(sum)" }
            return "\(sum) \(request.body.length == nil ? "chunks" : "length")"
        }
    }

    private static func addCookies(_ server: inout WebServer) throws {
        let cookie = try SetCookie("session", "abc", isSecure: false)
        server.get("/login") { _ in
            var response = Response.text("in")
            response.setCookie(cookie)
            return response
        }
        server.get("/me") { request in
            guard let session = request.cookies["session"] else {
                return Response.text("no session\n", status: .unauthorized)
            }
            return .text("session=\(session)")
        }
    }

    /// What pages of other origins may ask for.
    private static func addSharing(_ server: inout WebServer) {
        server.group("/cors", .cors(CORSPolicy(.any, methods: [.put]))) { shared in
            shared.get("") { _ in "across" }
            shared.on(.put, "") { request in
                _ = try await request.body.collect()
                return "put across"
            }
            shared.on(.delete, "") { _ in "deleted" }
        }
    }

    private static let page = """
        <!doctype html>
        <meta charset="utf-8">
        <form id="names" action="/form" method="post">
        <input name="name" value="Jürgen &amp; Söhne">
        <textarea name="text">a
        b</textarea>
        </form>
        <form id="files" action="/upload" method="post" enctype="multipart/form-data">
        <input name="note" value="hello">
        <input id="file" name="file" type="file">
        </form>
        """
}

/// The checksum of zlib (RFC 1950 section 8.2), with the number of bytes.
struct Adler32: CustomStringConvertible {
    private var low: UInt32 = 1
    private var high: UInt32 = 0
    private var count = 0

    mutating func add(_ bytes: [UInt8]) {
        count += bytes.count
        for byte in bytes {
            low = (low &+ UInt32(byte)) % 65_521
            high = (high &+ low) % 65_521
        }
    }

    var description: String { "\(count) \(high << 16 | low)" }
}

extension HTTPField.Name {
    /// What the proxies of these tests add to what they hand on.
    fileprivate static var xForwarded: Self { Self("Way") ?? .via }
}
