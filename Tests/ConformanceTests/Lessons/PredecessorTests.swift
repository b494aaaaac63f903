// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

/// Where embedded web servers of others have holes, or their users complain, one test for each that no other test names.
///
/// Others are elsewhere by name: passwords in DigestGuardTests and AuthenticatedUserTests, smuggling in LessonsTests and the
/// corpus, uploads that are cut in CutUploadTests, listeners that the system takes away in ServerListenerTests, routes that
/// are replaced in RunningServerTests, conditions and ranges in PreconditionsTests and ByteRangesTests.
@Suite("Holes that others have", .timeLimit(minutes: 2))
struct PredecessorTests {
    private static let head = "HTTP/1.1\r\nHost: a\r\n"

    // MARK: Answers

    @Test("A value that an app passes on can't begin a line, wherever it is put")
    func injection() async throws {
        let evil = "x\r\nEvil: 1\r\n\r\nHTTP/1.1 200 OK\r\nEvil: 2\n\nEvil: 3\rEvil: 4\0"
        try await withServer { server in
            server.get("/redirect") { _ in .redirect(to: "/" + evil) as Response }
            server.get("/field") { _ in Response(headers: [.server: evil, .accept: evil]) }
            server.get("/type") { _ in Response(type: MediaType(rawValue: evil), body: "a") }
            server.get("/name") { _ in
                Response(headers: [.contentDisposition: ContentDisposition.attachment(filename: evil).description])
            }
            server.get("/reason") { _ in Response(HTTPResponse.Status(code: 299, reasonPhrase: evil)) }
            server.get("/problem") { _ async throws -> String in
                throw Problem(.conflict, "what", headers: [.retryAfter: evil])
            }
            server.get("/hints", .earlyHints) { request in
                try await request.sendEarlyHints(evil)
                return "hinted"
            }
            server.get("/cookie") { _ async throws -> String in
                _ = try SetCookie("name", evil)
                return "made"
            }
            server.use(.after { request, response in response.headers[.via] = request.path == "/step" ? evil : nil })
            server.get("/step") { _ in "" }
            server.get("/trailers") { _ in
                Response { writer in
                    try await writer.write("a")
                    await writer.setTrailers([.eTag: evil])
                }
            }
        } _: { address async throws in
            let paths = [
                "redirect", "field", "type", "name", "reason", "problem", "hints", "cookie", "step", "trailers",
            ]
            for path in paths {
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("GET /\(path) \(Self.head)Connection: close\r\n\r\n")
                let text = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                let lines = text.split(whereSeparator: { $0.isNewline })
                #expect(text.hasPrefix("HTTP/1.1 "), "\(path): \(text)")
                #expect(!lines.contains { $0.hasPrefix("Evil:") } && !text.utf8.contains(0), "\(path): \(text)")
                #expect(lines.count { $0.hasPrefix("HTTP/1.1 ") } == (path == "hints" ? 2 : 1), "\(path): \(text)")
            }
        }
    }

    @Test("What an answer to a wrong request quotes of it is no page, and stays within its quotation")
    func quoting() async throws {
        try await withServer { server in
            server.get("/there/:number") { request in "\(try request.parameters.require("number", as: Int.self))" }
            server.allowedHosts = ["a"]
        } _: { address async throws in
            let script = "<script>alert(1)</script>"
            let requests = [
                "GET /\(script) \(Self.head)", "GET /there/\(script) \(Self.head)",
                "GET /?a=\(script) HTTP/1.1\r\nHost: \(script)\r\n", "GET / HTTP/1.1\r\nHost: b.\(script)\r\n",
                "\(script) / \(Self.head)", "GET / \(script)/1.1\r\nHost: a\r\n", "GET / \(Self.head)\(script): a\r\n",
                "GET / \(Self.head)Transfer-Encoding: \(script)\r\n", "GET / \(Self.head)Expect: \(script)\r\n",
                "POST / \(Self.head)Content-Encoding: \(script)\r\nContent-Length: 1\r\n",
                "GET /\u{1B}[2J\u{1} \(Self.head)", "GET / \(Self.head)X: \u{1B}[2J\u{1}\r\n",
            ]
            for request in requests {
                for accept in ["text/html, */*", "application/json"] {
                    let peer = try await RawPeer.connect(to: address)
                    try await peer.send("\(request)Accept: \(accept)\r\nConnection: close\r\n\r\n")
                    let response = try await peer.readResponse()
                    #expect((400...599).contains(response.status), "\(request)")
                    let type = response["Content-Type"] ?? ""
                    #expect(["text/plain; charset=utf-8", "application/problem+json"].contains(type), "\(request)")
                    #expect(response["X-Content-Type-Options"] == "nosniff", "\(request)")
                    #expect(response.body.allSatisfy { $0 >= 0x20 || $0 == 0x0A }, "\(request): \(response.text)")
                    if type.hasSuffix("json") {
                        let object = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
                        #expect(object?["status"] as? Int == response.status)
                    }
                }
            }
        }
    }

    @Test("An error keeps the connection: not found, not allowed, refused, failed, and a body that nobody reads")
    func errorsKeep() async throws {
        struct Failure: Error {}
        try await withServer { server in
            server.use(.bodySize(.kibibytes(1)))
            server.get("/") { _ in "here" }
            server.get("/failed") { _ async throws -> String in throw Failure() }
            server.get("/secret", .basicAuth(realm: "r", accounts: ["mia": "pw"])) { _ in "secret" }
            server.post("/form") { request in "\(try await request.form().count)" }
            server.get("/empty") { _ in Response(.noContent) }
        } _: { address async throws in
            let peer = try await RawPeer.connect(to: address)
            let body = "Content-Length: 3\r\n\r\na=1"
            let requests = [
                ("GET /none \(Self.head)\r\n", 404), ("POST /none \(Self.head)\(body)", 404),
                ("DELETE / \(Self.head)\r\n", 405), ("POST / \(Self.head)\(body)", 405),
                ("GET /failed \(Self.head)\r\n", 500), ("GET /secret \(Self.head)\r\n", 401),
                ("POST /form \(Self.head)Content-Type: text/plain\r\n\(body)", 415),
                ("POST /form \(Self.head)\(body)", 415), ("HEAD /none \(Self.head)\r\n", 404),
                ("GET / \(Self.head)If-Match: \"a\"\r\n\r\n", 200), ("GET /empty \(Self.head)\r\n", 204),
                ("BREW / \(Self.head)\r\n", 501), ("HEAD / \(Self.head)\r\n", 200),
            ]
            for (request, status) in requests {
                #expect(try await peer.response(to: request).status == status, "\(request)")
                #expect(try await peer.response(to: "GET / \(Self.head)\r\n").text == "here", "\(request)")
            }
            await peer.close()
        }
    }

    // MARK: One another's time

    @Test("A handler that takes its time and a client that hardly reads hold up nobody else, on one loop")
    func stalling() async throws {
        let path = NSTemporaryDirectory() + "duplex-slow-\(UUID().uuidString)"
        try Data(count: 1 << 23).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (gate, keeper) = AsyncStream<Never>.makeStream()
        let group = try EventLoopGroup(loops: 1)
        try await withServer { server in
            server.eventLoops = group
            server.get("/slow") { _ in
                for await _ in gate {}
                return "slow"
            }
            server.get("/file") { _ in Response(body: try .file(path)) }
            server.get("/") { _ in "here" }
        } _: { address async throws in
            let waiting = try await RawPeer.connect(to: address)
            try await waiting.send("GET /slow \(Self.head)\r\n")
            let reader = try await RawPeer.connect(to: address)
            try await reader.send("GET /file \(Self.head)\r\n")
            #expect(try await reader.readHead().contains("Content-Length: 8388608\r\n"))
            let uploader = try await RawPeer.connect(to: address)
            try await uploader.send("POST / \(Self.head)Content-Length: 100\r\n\r\nbegun")
            for _ in 0..<20 {
                let peer = try await RawPeer.connect(to: address)
                #expect(try await peer.response(to: "GET / \(Self.head)\r\n").text == "here")
                await peer.close()
            }
            keeper.finish()
            #expect(try await waiting.readResponse().text == "slow")
            #expect(try await reader.read(exactly: 1 << 23).count == 1 << 23)
            for peer in [waiting, reader, uploader] { await peer.reset() }
        }
        await group.stop()
    }

    // MARK: Listening

    /// A listener on a port of ::1, with what keeps that port of 127.0.0.1 from others; `nil` where there is no IPv6.
    private static func takenHalf() throws -> (SocketListener, ReservedPort)? {
        while true {
            let half = try ReservedPort()
            do {
                return (try SocketListener.bind(.tcp(host: "::1", port: half.address.port)), half)
            } catch {
                if error.errno != EADDRINUSE { return nil }
            }
        }
    }

    @Test("Where the IPv6 half of localhost's port is taken the server says so, takes none, and another port if it may")
    func halfTaken() async throws {
        // Where there is no IPv6, nobody can have taken it.
        guard let (other, half) = try Self.takenHalf() else { return }
        defer { withExtendedLifetime(half) {} }
        let port = half.address.port
        // Half of it would be worse: browsers would get to a stranger's server by the name of this one.
        let error = await #expect(throws: SocketError.self) { try await WebServer(port: port).start() }
        #expect(error?.code == .cannotBind && error?.message.contains("::1") == true, "\(String(describing: error))")
        // An app that knows what it does names the half, which is free.
        let running = try await WebServer(host: "127.0.0.1", port: port).start()
        #expect(running.addresses.map(\.port) == [port])
        await running.stop()
        let chosen = try await WebServer(port: 0).start()
        #expect(chosen.addresses[0].port != port)
        await chosen.stop()
        await other.close()
    }
}
