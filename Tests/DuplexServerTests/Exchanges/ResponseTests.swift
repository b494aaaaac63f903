// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import HTTPTypes
import Testing

@Suite struct ResponseTests {
    @Test("A text is plain text in UTF-8 with status 200")
    func text() {
        let response = "grüß dich".response
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(response.body.bytes == Array("grüß dich".utf8))
        #expect(Response.text("no", status: .forbidden).status == .forbidden)
    }

    @Test("Bytes have the type that they are given, or none")
    func bytes() {
        #expect(Response(type: "image/png", body: [1]).headers[.contentType] == "image/png")
        #expect(Response(body: [1]).headers.isEmpty)
        #expect(Response().status == .ok)
    }

    @Test("On the wire it has its length and the date, and nothing that it wasn't given besides")
    func onTheWire() async throws {
        let response = try await sent(Response(type: "a/b", headers: [.eTag: "\"1\""], body: [65, 66]))
        #expect(response.statusLine == "HTTP/1.1 200 OK")
        #expect(response["Content-Length"] == "2")
        #expect(response["Content-Type"] == "a/b")
        #expect(response["ETag"] == "\"1\"")
        #expect(response["Date"]?.hasSuffix(" GMT") == true)
        #expect(response.head.split(separator: "\r\n").count == 5)
        #expect(response.body == [65, 66])
    }

    @Test("It is described by its status, its type and its length, without other fields and the body")
    func description() {
        let response = Response(type: "text/plain", headers: [.setCookie: "id=secret"], body: "secret")
        #expect("\(response)" == "200 OK, text/plain, 6 bytes")
        #expect("\(Response(.noContent))" == "204 No Content, 0 bytes")
        #expect("\(Response(body: [1]))" == "200 OK, 1 byte")
        #expect("\(Response(type: "a/\n\"b") { _ in })" == #"200 OK, a/\x0a\"b"#)
    }

    @Test("An empty body has the length 0")
    func empty() async throws {
        #expect(try await sent(Response())["Content-Length"] == "0")
    }

    @Test(
        "A status that has no body is sent without one and without a length",
        arguments: [
            HTTPResponse.Status.noContent, .notModified,
        ]
    )
    func bodiless(status: HTTPResponse.Status) async throws {
        let response = try await sent(Response(status, body: [1, 2, 3]))
        #expect(response.status == status.code)
        #expect(response["Content-Length"] == nil)
    }

    @Test("A field can't begin a line of its own")
    func injection() async throws {
        var response = Response()
        response.headers[.location] = "/\r\nSet-Cookie: evil=1"
        #expect(try await sent(response)["Set-Cookie"] == nil)
    }

    private func sent(_ response: Response) async throws -> RawResponse {
        try await withServer { server in
            server.get("/") { _ in response }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let answer = try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // The connection goes on behind it: nothing too much was sent.
            #expect(try await peer.response(to: "GET /no HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 404)
            return answer
        }
    }
}
