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
        try await WebServer.testing(server) { client async throws in
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
        try await WebServer.testing(server) { client async throws in
            let kept = try await client.events("/feed")
            #expect(try await self.event(of: kept) == ["user", #"{"id":1}"#])
            #expect(await kept.lastEventID == id)
            let stream = try await client.events("/stream")
            #expect(try await self.event(of: stream) == ["user", #"{"id":2}"#])
            #expect(await stream.lastEventID == "a")
        }
    }
}
