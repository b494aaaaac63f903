// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

/// Steps that stand around the decision on a WebSocket; what they note is in RouteStepTests.
@Suite struct AdmissionStepsTests {
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
