// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import InMemoryTracing
import Testing

@testable import DuplexServer

@Suite("A route with all that belongs to it")
struct EndpointTests {
    private func endpoint(_ options: RouteOption..., tracer: InMemoryTracer? = nil) throws -> Endpoint {
        var settings = RouteSettings().with(options)
        settings.tracer = tracer
        return try Endpoint(pattern: "/a/:b", method: .get, handler: .immediate { _ in .text("") }, settings: settings)
    }

    @Test("Only what is used is asked for with each request")
    func following() throws {
        let plain = try endpoint(.before { _ in nil })
        #expect(plain.name == "GET /a/:b" && plain.parameters == ["b"])
        #expect(!plain.isFollowed && !plain.isAnswerFollowed && plain.observers.isEmpty)
        let finishing = try endpoint(.after { _, _ in })
        #expect(!finishing.isFollowed && finishing.isAnswerFollowed)
        let observed = try endpoint(.completed { _, _ in })
        #expect(observed.isFollowed && observed.isAnswerFollowed)
        // A limit of time is nothing to a handler that doesn't wait.
        let limited = try endpoint(.timeLimit(.seconds(1)))
        #expect(!limited.isFollowed && !limited.isAnswerFollowed)
        let waiting = try endpoint(.timeLimit(.seconds(1)), .before { _ async throws in nil })
        #expect(waiting.isFollowed && waiting.isAnswerFollowed)
        let traced = try endpoint(tracer: InMemoryTracer())
        #expect(traced.isFollowed && traced.observers.count == 1)
    }

    @Test("A path that is none is an error; where no route answers there is none")
    func paths() throws {
        #expect(throws: RouteError.self) {
            try Endpoint(pattern: "a", method: .get, handler: .immediate { _ in .text("") }, settings: RouteSettings())
        }
        let none = Endpoint(refusingBy: RouteSettings())
        #expect(none.refusing === none)
        #expect(none.pattern == nil && none.name == "no route")
    }

    @Test("One that no path leads to is called by its name")
    func named() {
        let endpoint = Endpoint(named: "scripts", RouteSettings(), .immediate { _ in .text("") })
        #expect(endpoint.name == "scripts" && endpoint.pattern == "scripts")
    }

    @Test("What answers in a route's place goes through the same steps, and is there once")
    func refusing() async throws {
        let endpoint = try endpoint(.before { _ in .text("stopped") })
        #expect(endpoint.refusing !== endpoint && endpoint.refusing === endpoint.refusing)
        let head = try RequestHead(method: .get, target: "/", fields: [.init("Host") ?? .accept: "a"])
        let request = Request(head: head, client: Client(remoteAddress: nil, tls: nil))
        let response = try await endpoint.refusing.handler(request)
        #expect(response.body.bytes == Array("stopped".utf8))
    }
}
