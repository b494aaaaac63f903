// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

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
        try await WebServer.testing(server) { client async throws in
            let fields: HTTPFields = [.contentType: "multipart/mixed; boundary=b"]
            let response = try await client.post("/", fields: fields, body: "--b\r\n\r\nfirst\r\n".utf8)
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
        try await WebServer.testing(server) { client async throws in
            let body = "--b\r\n\r\nfirst\r\n--b\r\n\r\nsecond\r\n--b--"
            let response = try await client.post(
                "/",
                fields: [.contentType: "multipart/mixed; boundary=b"],
                body: body.utf8
            )
            #expect(response.text == "0 second 0 true true")
        }
    }
}
