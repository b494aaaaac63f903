// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite struct EndpointTests {
    @Test("It is called by its method and path, and knows what its parameters are called")
    func names() throws {
        let handler = RouteHandler.immediate { _ in .text("") }
        let endpoint = try Endpoint(
            pattern: "/users/:id/:part",
            method: .get,
            handler: handler,
            settings: RouteSettings()
        )
        #expect(endpoint.name == "GET /users/:id/:part")
        #expect(endpoint.parameters == ["id", "part"])
        #expect(Endpoint(named: "scripts", RouteSettings(), handler).name == "scripts")
        #expect(throws: RouteError.self) {
            try Endpoint(pattern: "users", method: .get, handler: handler, settings: RouteSettings())
        }
    }

    @Test("The server's own answers go through the steps, too")
    func steps() async throws {
        let settings = RouteSettings().with([.before { _ in .text("stopped") }])
        let endpoint = Endpoint(answering: .get, settings) { _ in .text("answered") }
        let head = try RequestHead(method: .get, target: "/", fields: [.init("Host") ?? .accept: "a"])
        let client = Client(remoteAddress: nil, tls: nil)
        let response = try await endpoint.handler(Request(head: head, client: client))
        #expect(response.body.bytes == Array("stopped".utf8))
    }
}
