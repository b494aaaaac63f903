// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("A response that a test has got")
struct TestResponseTests {
    @Test("It has the status, the fields, the body, the trailers and what came before")
    func parts() async throws {
        var server = WebServer(port: 0)
        server.post("/") { request in
            let body = try await request.body.collect()
            return Response(status: .accepted, fields: [.server: "a"]) { writer in
                try await writer.write(body)
                await writer.setTrailers([.eTag: "\"x\""])
            }
        }
        let response = try await WebServer.testing(server) { client in
            let connection = await client.connect()
            try await connection.begin(.post, "/", fields: [.expect: "100-continue"])
            // The handler asks for the body now, which is what the client waits for.
            await client.loop.settle()
            try await connection.write([0x61, 0xFF])
            try await connection.finish()
            return try await connection.response()
        }
        #expect(response.status == .accepted && response.head.status == .accepted)
        #expect(response.fields[.server] == "a" && response.fields[.transferEncoding] == "chunked")
        #expect(response.body == [0x61, 0xFF] && response.text == "a\u{FFFD}")
        #expect(response.trailers == [.eTag: "\"x\""])
        #expect(response.interim.map(\.status) == [.continue])
    }
}
