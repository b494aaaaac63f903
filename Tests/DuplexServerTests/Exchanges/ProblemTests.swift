// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("What is answered in place of what was asked for")
struct ProblemTests {
    private static let problem = Problem(.notFound, "Nothing \"here\".\r\n<b>", headers: [.retryAfter: "3"])

    private static func request(accepting value: String?) throws -> Request {
        let field = value.map { "Accept: \($0)\r\n" } ?? ""
        var parser = RequestHeadParser()
        var position = 0
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n".utf8)
        let head = try #require(try parser.parse(bytes.span, from: &position))
        return Request(head: head, connection: Request.Connection(remoteAddress: nil, tls: nil))
    }

    @Test(
        "It is plain text for people and for clients that don't say",
        arguments: [nil, "*/*", "text/html,*/*;q=0.8", "image/png", "text/plain, application/json"]
    )
    func text(accept: String?) throws {
        let response = Self.problem.response(for: try Self.request(accepting: accept))
        #expect(response.status == .notFound)
        #expect(response.body.bytes == Array("404 Not Found\nNothing \"here\".\r\n<b>\n".utf8))
        #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(response.headers[.xContentTypeOptions] == "nosniff" && response.headers[.retryAfter] == "3")
        #expect(response.headers[.vary] == "Accept")
    }

    @Test(
        "It is JSON for clients that want that",
        arguments: ["application/json", "application/problem+json, text/html;q=0.5", "application/*"]
    )
    func json(accept: String) throws {
        let response = Self.problem.response(for: try Self.request(accepting: accept))
        #expect(response.headers[.contentType] == "application/problem+json")
        let text = #"{"status":404,"title":"Not Found","detail":"Nothing \"here\".\r\n<b>"}"#
        #expect(response.body.bytes == Array((text + "\n").utf8))
        #expect(response.headers[.xContentTypeOptions] == "nosniff" && response.headers[.retryAfter] == "3")
    }

    @Test("Without a request it is plain text")
    func noRequest() {
        #expect(Self.problem.response(for: nil).headers[.contentType] == "text/plain; charset=utf-8")
    }

    @Test("A handler that throws one is answered by it, and other errors tell the client nothing")
    func thrown() async throws {
        struct Secret: Error {}
        var server = WebServer(port: 0)
        server.logger = RecordedLog().logger
        server.get("/now") { _ -> String in throw Problem(.conflict, "Not now.") }
        server.get("/later") { _ async throws -> String in
            throw Problem(.conflict, "Not now.", headers: [.retryAfter: "1"])
        }
        server.get("/secret") { _ -> String in throw Secret() }
        try await server.test { client async throws in
            #expect(try await client.get("/now").text == "409 Conflict\nNot now.\n")
            #expect(try await client.get("/later").headers[.retryAfter] == "1")
            let failed = try await client.get("/secret", headers: [.accept: "application/json"])
            #expect(failed.status == .internalServerError && !failed.text.contains("Secret"))
            #expect(failed.headers[.contentType] == "application/problem+json")
        }
    }

    @Test("An error of an app says itself what it is answered with, and is logged if that is a failure")
    func converted() async throws {
        enum ShopError: ProblemConvertible {
            case soldOut, isOnFire

            var problem: Problem {
                switch self {
                case .soldOut: Problem(.conflict, "Sold out.")
                case .isOnFire: Problem(.serviceUnavailable, "The shop is on fire.")
                }
            }
        }
        let log = RecordedLog()
        var server = WebServer(port: 0)
        server.logger = log.logger
        server.get("/order") { _ -> String in throw ShopError.soldOut }
        server.get("/fire") { _ async throws -> String in throw ShopError.isOnFire }
        try await server.test { client async throws in
            #expect(try await client.get("/order").text == "409 Conflict\nSold out.\n")
            #expect(!log.entries.contains { $0.message == "a request failed" })
            #expect(try await client.get("/fire").text == "503 Service Unavailable\nThe shop is on fire.\n")
            #expect(log.entries.contains { $0.message == "a request failed" })
        }
    }

    @Test("A handler that returns one is answered by it as if it had thrown it")
    func returned() async throws {
        var server = WebServer(port: 0)
        server.get("/now") { _ in Self.problem }
        server.get("/later") { _ async throws in
            await Task.yield()
            return Problem(.conflict, "Not now.")
        }
        server.group("/own", .problems { request, problem in .text("own \(problem.status.code)") }) { own in
            own.get("/") { _ in Self.problem }
        }
        try await server.test { client async throws in
            let text = try await client.get("/now")
            #expect(
                text.status == .notFound && text.headers[.retryAfter] == "3" && text.text.hasPrefix("404 Not Found\n")
            )
            let json = try await client.get("/later", headers: [.accept: "application/json"])
            #expect(json.text == #"{"status":409,"title":"Conflict","detail":"Not now."}"# + "\n")
            #expect(try await client.get("/own").text == "own 404")
        }
        #expect(Self.problem.response.headers[.contentType] == "text/plain; charset=utf-8")
    }

    @Test("Pages that are made of the server's own have each field once; conditions and long bodies have them, too")
    func once() async throws {
        var server = WebServer(port: 0)
        server.use(
            .problems { request, problem in
                var response = problem.response(for: request)
                response.headers[.server] = "mine"
                return response
            }
        )
        server.use(.after { _, response in response.headers[.from] = "after" })
        server.get("/") { _ in Response(headers: [.eTag: "\"a\""], body: "x") }
        server.post("/short", .bodySize(2)) { request in "\(try await request.body.collect().count)" }
        try await server.test { client async throws in
            let method = try await client.request(.delete, "/")
            #expect(method.headers[values: .allow].count == 1 && method.headers[.server] == "mine")
            let other = try await client.get("/", headers: [.ifMatch: "\"b\""])
            #expect(other.status == .preconditionFailed && other.headers[.server] == "mine")
            let long = try await client.post("/short", body: "long".utf8)
            #expect(
                long.status == .contentTooLarge && long.headers[.server] == "mine" && long.headers[.from] == "after"
            )
        }
    }

    @Test("An app may make the pages of its own, a group others; the problem's fields go with them")
    func pages() async throws {
        var server = WebServer(port: 0)
        server.use(.problems { request, problem in .html("<h1>\(problem.status.code)</h1>", status: problem.status) })
        server.get("/page") { _ -> String in throw Problem(.forbidden, "No.") }
        server.group("/api", .problems { _, problem in Response(problem.status, type: .json, body: "{}") }) {
            api in
            api.get("/thing") { _ -> String in throw Problem(.forbidden, "No.", headers: [.retryAfter: "9"]) }
        }
        try await server.test { client async throws in
            #expect(try await client.get("/page").text == "<h1>403</h1>")
            #expect(try await client.get("/nothing").text == "<h1>404</h1>")
            let wrongMethod = try await client.post("/page")
            #expect(wrongMethod.text == "<h1>405</h1>" && wrongMethod.headers[.allow] == "GET, HEAD, OPTIONS")
            let thing = try await client.get("/api/thing")
            #expect(thing.text == "{}" && thing.headers[.retryAfter] == "9" && thing.status == .forbidden)
        }
    }

    @Test("It is described in one line, without its fields")
    func description() {
        #expect(Problem(.conflict, "Sold out.").description == "409 Conflict: Sold out.")
        let text = "\(Self.problem)"
        #expect(text == #"404 Not Found: Nothing "here".\u000d\u000a<b>"#)
    }
}
