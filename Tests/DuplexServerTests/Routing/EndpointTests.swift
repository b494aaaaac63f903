// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
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
        #expect(!plain.isFollowed && !plain.hasFinishing && plain.observers.isEmpty)
        let finishing = try endpoint(.after { _, _ in })
        #expect(!finishing.isFollowed && finishing.hasFinishing)
        let observed = try endpoint(.completed { _, _ in })
        #expect(observed.isFollowed && !observed.hasFinishing)
        // A limit of time is nothing to a handler that doesn't wait.
        let limited = try endpoint(.timeLimit(.seconds(1)))
        #expect(!limited.isFollowed && limited.timeLimit == nil)
        let waiting = try endpoint(.timeLimit(.seconds(1)), .before { _ async throws in nil })
        #expect(waiting.isFollowed && waiting.timeLimit == .seconds(1))
        let traced = try endpoint(tracer: InMemoryTracer())
        #expect(traced.isFollowed && traced.observers.count == 1)
    }

    private struct Gated: RequestObserver {
        let gate: ObserverGate?

        func ended(_ request: Request, _ outcome: RequestOutcome) {}
    }

    @Test("A route is followed while one of its observers looks, and always where the time is limited")
    func gates() throws {
        let gates = [ObserverGate(), ObserverGate()]
        let observers = gates.map { RouteOption.observed(by: Gated(gate: $0)) }
        let gated = try endpoint(observers[0], observers[1])
        #expect(!gated.isFollowed && gated.observers.count == 2)
        for gate in gates {
            gate.set(open: true)
            #expect(gated.isFollowed)
            gate.set(open: false)
            #expect(!gated.isFollowed)
        }
        #expect(try endpoint(observers[0], .completed { _, _ in }).isFollowed)
        #expect(try endpoint(observers[0], .timeLimit(.seconds(1)), .before { _ async throws in nil }).isFollowed)
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

    @Test("What answers in a route's place goes through the same middleware, and is there once")
    func refusing() async throws {
        let endpoint = try endpoint(.before { _ in .text("stopped") })
        #expect(endpoint.refusing !== endpoint && endpoint.refusing === endpoint.refusing)
        let head = try RequestHead(method: .get, target: "/", headers: [.init("Host") ?? .accept: "a"])
        let request = Request(head: head, connection: Request.Connection(remoteAddress: nil, tls: nil))
        let response = try await endpoint.refusing.handler(request)
        #expect(response.body.bytes == Array("stopped".utf8))
    }
}

@Suite("What the server answers by itself")
struct OwnAnswerTests {
    private func request() throws -> Request {
        let head = try RequestHead(method: .get, target: "/", headers: [.init("Host") ?? .accept: "a"])
        return Request(head: head, connection: Request.Connection(remoteAddress: nil, tls: nil))
    }

    @Test("It is what was noted with the request, and so is the route that the request came to")
    func noted() async throws {
        let answered = try request()
        OwnAnswer.response(Response(.noContent)).note(with: answered)
        #expect(try await OwnAnswer.handler(answered).status == .noContent && OwnAnswer.pattern(of: answered) == nil)
        let refused = try request()
        let problem = Problem(.contentTooLarge, "Too long.")
        OwnAnswer.problem(problem, at: "/a").note(with: refused)
        await #expect(throws: problem) { try await OwnAnswer.handler(refused) }
        #expect(OwnAnswer.pattern(of: refused) == "/a")
        #expect(try await OwnAnswer.handler(try request()).status == .notFound)
    }

    @Test("All that no route answers goes through the middleware that holds there")
    func middleware() async throws {
        var server = WebServer(port: 0)
        server.use(.after { if $1.headers[.server] == nil { $1.headers[.server] = "all" } })
        server.get("/page") { _ in "page" }
        server.post("/short", .bodySize(1), .after { $1.headers[.server] = "short" }) { _ in "" }
        server.webSocket("/plain") { _ in }
        server.webSocket("/own", .after { $1.headers[.server] = "own" }) { _ in }
        try await server.test { client async throws in
            let answers: [(HTTPRequest.Method, String, Int, String)] = [
                (.get, "/none", 404, "all"), (.put, "/page", 405, "all"), (.get, "/short", 405, "short"),
                (.options, "/page", 204, "all"), (.post, "/short", 413, "short"), (.get, "/plain", 426, "all"),
                (.get, "/own", 426, "own"), (.init("BREW") ?? .get, "/page", 501, "all"),
            ]
            for (method, path, status, name) in answers {
                let response = try await client.request(method, path, body: method == .post ? "ab".utf8 : "".utf8)
                #expect(response.status.code == status, "\(method) \(path)")
                #expect(response.headers[.server] == name, "\(method) \(path)")
            }
        }
    }

    @Test("The route that is told of it is the one that the request came to")
    func routes() async throws {
        let (outcomes, tell) = AsyncStream<String>.makeStream()
        var server = WebServer(port: 0)
        server.use(.completed { _, outcome in tell.yield("\(outcome.route ?? "none") \(outcome.status?.code ?? 0)") })
        server.post("/short", .bodySize(1)) { _ in "" }
        try await server.test { client async throws in
            var iterator = outcomes.makeAsyncIterator()
            _ = try await client.post("/short", body: "ab".utf8)
            #expect(await iterator.next() == "/short 413")
            _ = try await client.get("/short")
            #expect(await iterator.next() == "none 405")
            _ = try await client.get("/none")
            #expect(await iterator.next() == "none 404")
        }
    }
}
