// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

@Suite struct RouteHandlerTests {
    private static func isImmediate(_ handler: RouteHandler) -> Bool {
        if case .immediate = handler { true } else { false }
    }

    @Test("A handler that doesn't wait stays one behind middleware that doesn't, and is a task behind others")
    func immediate() {
        let handler = RouteHandler.immediate { _ in Response(.ok) }
        #expect(Self.isImmediate(handler.behind([])))
        #expect(Self.isImmediate(handler.behind([.before { _ in nil }, .before { _ in nil }])))
        #expect(!Self.isImmediate(handler.behind([.before { _ in nil }, .beforeWaiting { _ in nil }])))
        #expect(!Self.isImmediate(handler.behind([.around { request, next in try await next(request) }])))
        #expect(!Self.isImmediate(RouteHandler.task { _ in Response(.ok) }.behind([.before { _ in nil }])))
        #expect(Self.isImmediate(handler.behind([.within(Hand(value: 1))])))
    }

    /// Has a number at hand.
    private struct Hand: HandlerContext {
        @TaskLocal static var current: Int?

        let value: Int

        func run<Value>(_ body: () throws -> Value) throws -> Value {
            try Self.$current.withValue(value) { try body() }
        }

        func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
            try await Self.$current.withValue(value) { try await body() }
        }
    }

    @Test("What is at hand is the route's, then the group's, then the server's, also while a body is written")
    func atHand() async throws {
        var server = WebServer(port: 0)
        server.use(.within(Hand(value: 1)))
        server.get("/sync") { _ in "\(Hand.current ?? 0)" }
        server.get("/async") { _ async in
            await Task.yield()
            return "\(Hand.current ?? 0)"
        }
        server.get("/body") { _ in Response { writer in try await writer.write("\(Hand.current ?? 0)") } }
        server.group("/group", .within(Hand(value: 2))) { group in
            group.get("/") { _ in "\(Hand.current ?? 0)" }
            group.get("/body") { _ async in Response { writer in try await writer.write("\(Hand.current ?? 0)") } }
            group.get("/route", .within(Hand(value: 3))) { _ in "\(Hand.current ?? 0)" }
        }
        try await server.test { client async throws in
            for (path, text) in [
                ("/sync", "1"), ("/async", "1"), ("/body", "1"), ("/group", "2"), ("/group/body", "2"),
                ("/group/route", "3"),
            ] {
                #expect(try await client.get(path).text == text, "\(path)")
            }
        }
    }
}

/// What requests and responses go through.
@Suite("Middleware of a route")
struct RouteMiddlewareTests {
    private final class Notes: Sendable {
        private let notes = Mutex<[String]>([])

        func add(_ note: String) { notes.withLock { $0.append(note) } }

        func take() -> [String] {
            notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }
    }

    private static func around(_ name: String, _ notes: Notes) -> RouteOption {
        .around { request, next in
            notes.add("\(name) in")
            let response = try await next(request)
            notes.add("\(name) out")
            return response
        }
    }

    @Test(
        "They run in the order that they were added in, the server's, the groups', the route's, and back",
        arguments: ["/g/sync", "/g/async"]
    )
    func order(path: String) async throws {
        let notes = Notes()
        var server = WebServer(port: 0)
        server.use(
            Self.around("server", notes),
            .before { _ in
                notes.add("before")
                return nil
            }
        )
        server.use(.after { _, _ in notes.add("after server") })
        server.group("/g", Self.around("group", notes), .after { _, _ in notes.add("after group") }) { group in
            group.get("/sync", Self.around("route", notes)) { _ in
                notes.add("handler")
                return ""
            }
            group.get("/async", Self.around("route", notes)) { _ async in
                notes.add("handler")
                return ""
            }
            group.use(
                .before { _ async in
                    notes.add("late")
                    return nil
                }
            )
        }
        try await server.test { client async throws in
            _ = try await client.get(path)
            let expected = [
                "server in", "before", "group in", "late", "route in", "handler", "route out", "group out",
                "server out",
                "after group", "after server",
            ]
            #expect(notes.take() == expected)
        }
    }

    @Test("One that answers keeps the request from those behind it, and one that throws is a handler that throws")
    func answering() async throws {
        var server = WebServer(port: 0)
        server.use(
            .before { request in
                switch request.head.query {
                case "answer": .text("middleware")
                case "throw": throw Problem(.forbidden, "No.")
                default: nil
                }
            }
        )
        server.get("/") { _ in "handler" }
        server.get("/async") { _ async in "handler" }
        try await server.test { client async throws in
            for path in ["/", "/async"] {
                #expect(try await client.get(path).text == "handler")
                #expect(try await client.get("\(path)?answer").text == "middleware")
                let forbidden = try await client.get("\(path)?throw")
                #expect(forbidden.status == .forbidden)
            }
        }
    }

    @Test("The server's hold for what no route answers, too, before a body is asked for")
    func unmatched() async throws {
        var server = WebServer(port: 0)
        server.use(
            .before { request in request.headers[.authorization] == nil ? Response(.unauthorized) : nil },
            .after { _, response in response.headers[.server] = "test" }
        )
        server.get("/") { _ in "" }
        try await server.test { client async throws in
            #expect(try await client.get("/nothing").status == .unauthorized)
            let found = try await client.get("/nothing", headers: [.authorization: "x"])
            #expect(found.status == .notFound && found.headers[.server] == "test")
            let method = try await client.request(.delete, "/", headers: [.authorization: "x"])
            #expect(method.status == .methodNotAllowed && method.headers[.server] == "test")
            let connection = await client.connect()
            try await connection.send(
                raw: "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
            )
            let refused = try await connection.response()
            #expect(refused.status == .unauthorized && refused.interim.isEmpty)
            await connection.close()
        }
    }

    @Test("A WebSocket goes through them before it is opened, and its handler gets what they have noted")
    func webSockets() async throws {
        enum User: RequestKey { typealias Value = String }
        var server = WebServer(port: 0)
        server.use(
            .before { request in
                guard let user = request.headers[.authorization] else { throw Problem(.unauthorized, "Who are you?") }
                request[User.self] = user
                return nil
            },
            .after { _, response in response.headers[.server] = "test" }
        )
        server.webSocket("/plain") { socket in try await socket.send("plain") }
        server.webSocket("/request") { socket, request in try await socket.send(request[User.self] ?? "nobody") }
        server.webSocket(
            "/admitted",
            admit: { request -> Admission<String> in
                request[User.self] == "eve" ? .refused(.forbidden, "Not you.") : .accepted(request[User.self] ?? "")
            },
            handler: { socket, _, user in try await socket.send("admitted \(user)") }
        )
        try await server.test { client async throws in
            for (path, text) in [("/plain", "plain"), ("/request", "mia"), ("/admitted", "admitted mia")] {
                var options = WebSocketOptions()
                options.headers[.authorization] = "mia"
                let socket = try await client.webSocket(path, options: options)
                #expect(try await socket.receive() == .text(text))
                await socket.reset()
                let error = await #expect(throws: WebSocketError.self) { try await client.webSocket(path) }
                #expect(error?.handshake?.status == .unauthorized && error?.handshake?.headers?[.server] == "test")
            }
            var options = WebSocketOptions()
            options.headers[.authorization] = "eve"
            let error = await #expect(throws: WebSocketError.self) {
                try await client.webSocket("/admitted", options: options)
            }
            #expect(error?.handshake?.status == .forbidden)
        }
    }
}
