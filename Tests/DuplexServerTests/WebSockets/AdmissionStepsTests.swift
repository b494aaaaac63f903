// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

/// Steps that stand around the decision on a WebSocket; what they note is in RouteStepTests.
@Suite struct AdmissionStepsTests {
    @Test("What steps add to the answer goes with the 101")
    func fields() async throws {
        var server = WebServer(port: 0)
        server.use(
            .around { request, next in
                var response = try await next(request)
                response.fields[.setCookie] = "a=1"
                return response
            },
            .after { _, response in response.fields[.server] = "test" }
        )
        server.webSocket("/") { _ in }
        try await WebServer.testing(server) { client async throws in
            let connection = await client.connect()
            let upgrade = RawPeer.upgradeRequest("/")
            try await connection.send(raw: upgrade)
            let head = try await connection.head()
            #expect(head.status == .switchingProtocols)
            #expect(head.fields[.setCookie] == "a=1" && head.fields[.server] == "test")
            await connection.reset()
        }
    }

    @Test("A step sees the decision as a response, and may refuse what the app accepts")
    func around() async throws {
        var server = WebServer(port: 0)
        server.use(
            .around { request, next in
                let response = try await next(request)
                if request.query == "late" && response.status == .switchingProtocols {
                    return Response(status: .tooManyRequests)
                }
                return response
            }
        )
        server.webSocket("/") { socket in try await socket.send("open") }
        try await WebServer.testing(server) { client async throws in
            let socket = try await client.webSocket("/")
            #expect(try await socket.receive() == .text("open"))
            await socket.reset()
            let error = await #expect(throws: WebSocketError.self) { try await client.webSocket("/?late") }
            #expect(error?.handshake?.status == .tooManyRequests)
        }
    }
}
