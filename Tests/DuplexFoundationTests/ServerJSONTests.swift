// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Routes and events of values")
struct ServerJSONTests {
    private struct User: Codable, Sendable, Equatable {
        var id: Int
    }

    @Test("A handler that returns a value answers in JSON, one that returns a text with that, whatever is imported")
    func routes() async throws {
        var server = WebServer(port: 0)
        server.get("/users/:id") { request in User(id: try request.parameters.require("id", as: Int.self)) }
        server.post("/users") { request in
            let user = try await request.decode(User.self)
            return [user, User(id: user.id + 1)]
        }
        server.get("/text") { _ in "text" }
        server.get("/status") { _ in HTTPResponse.Status.noContent }
        try await server.test { client async throws in
            let user = try await client.get("/users/7")
            #expect(user.text == #"{"id":7}"# && user.headers[.contentType] == "application/json")
            let type: HTTPFields = [.contentType: "application/json"]
            #expect(
                try await client.post("/users", headers: type, body: #"{"id":1}"#.utf8).text == #"[{"id":1},{"id":2}]"#
            )
            let text = try await client.get("/text")
            #expect(text.text == "text" && text.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(try await client.get("/status").status == .noContent)
            #expect(try await client.get("/users/x").status == .notFound)
        }
    }

    @Test("A value that isn't there is 404, unless the response says null")
    func absent() async throws {
        let users = [7: User(id: 7)]
        var server = WebServer(port: 0)
        server.get("/users/:id") { request in users[try request.parameters.require("id", as: Int.self)] }
        server.post("/users/:id") { request async throws in
            users[try request.parameters.require("id", as: Int.self)]
        }
        let known: [Int: User?] = [7: User(id: 7), 8: nil]
        server.get("/known/:id") { request in known[try request.parameters.require("id", as: Int.self)] }
        server.get("/null") { _ in try Response(json: User?.none) }
        server.get("/text") { request in request.headers[.userAgent] }
        try await server.test { client async throws in
            #expect(try await client.get("/users/7").text == #"{"id":7}"#)
            #expect(try await client.get("/users/8").text == "404 Not Found\nThere is nothing at this path.\n")
            #expect(try await client.post("/users/7").text == #"{"id":7}"#)
            #expect(try await client.post("/users/8").status == .notFound)
            #expect(try await client.get("/known/7").text == #"{"id":7}"#)
            for id in [8, 9] { #expect(try await client.get("/known/\(id)").status == .notFound) }
            let none = try await client.get("/null")
            #expect(none.status == .ok && none.text == "null")
            #expect(try await client.get("/text", headers: [.userAgent: "a"]).text == "a")
            #expect(try await client.get("/text").status == .notFound)
        }
    }

    @Test("Any method, what a closure picks and what nothing else answers may be values")
    func others() async throws {
        var server = WebServer(port: 0)
        server.on(.get, "/now") { _ in User(id: 1) }
        server.on(.put, "/later") { _ async in
            await Task.yield()
            return User(id: 2)
        }
        server.match("old") { head in
            head.path.hasSuffix(".old")
        } handler: { _ in
            User(id: 3)
        }
        server.fallback { request in request.path == "/none" ? nil : User(id: 4) }
        try await server.test { client async throws in
            #expect(try await client.get("/now").text == #"{"id":1}"#)
            #expect(try await client.request(.put, "/later").text == #"{"id":2}"#)
            #expect(try await client.get("/a.old").text == #"{"id":3}"#)
            #expect(try await client.get("/other").text == #"{"id":4}"#)
            #expect(try await client.get("/none").status == .notFound)
        }
    }

    /// The next event's type and data.
    private func event(of stream: TestEventStream) async throws -> [String]? {
        while let item = try await stream.next() {
            if case .event(let type, let data, _) = item { return [type, data] }
        }
        return nil
    }

    @Test("Events of streams and feeds have values as their data")
    func events() async throws {
        var server = WebServer(port: 0)
        let feed = EventFeed(keeping: 10)
        let id = try feed.publish(json: User(id: 1), event: "user")
        server.events("/feed", of: feed, replay: 1)
        server.events("/stream") { stream in try await stream.send(json: User(id: 2), event: "user", id: "a") }
        try await server.test { client async throws in
            let kept = try await client.events("/feed")
            #expect(try await self.event(of: kept) == ["user", #"{"id":1}"#])
            #expect(await kept.lastEventID == id)
            let stream = try await client.events("/stream")
            #expect(try await self.event(of: stream) == ["user", #"{"id":2}"#])
            #expect(await stream.lastEventID == "a")
        }
    }
}
