// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("How a server writes and reads JSON")
struct RouteOptionJSONTests {
    private struct Note: Codable, Sendable {
        var writtenAt: Date
    }

    private static let type: HTTPFields = [.contentType: "application/json"]
    private static let note = Note(writtenAt: Date(timeIntervalSince1970: 1_000_000_000))

    /// Keys with underscores, and dates as whole seconds.
    private static let snakes = RouteOption.json {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        return encoder
    } decoder: {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        return decoder
    }

    private static func addRoutes(to routes: inout some RouteBuilder) {
        routes.get("/value") { _ in Self.note }
        routes.get("/later") { _ async in
            await Task.yield()
            return Self.note
        }
        routes.get("/response") { _ in try Response(json: Self.note) }
        routes.get("/own") { _ in try Response(json: Self.note, encoder: JSONDefaults.makeEncoder()) }
        routes.get("/written") { _ in
            Response { writer in
                try await writer.write(Response(json: Self.note).body.bytes ?? [])
            }
        }
        routes.post("/read") { request in
            "\(try await request.decode(Note.self).writtenAt.timeIntervalSince1970)"
        }
        routes.events("/events") { stream in try await stream.send(json: Self.note) }
    }

    private static func data(of client: TestClient, _ path: String) async throws -> String? {
        let stream = try await client.events(path)
        while let item = try await stream.next() {
            if case .event(_, let data, _) = item { return data }
        }
        return nil
    }

    @Test("Dates are ISO 8601 where an app says nothing")
    func standard() async throws {
        var server = WebServer(port: 0)
        Self.addRoutes(to: &server)
        try await server.test { client async throws in
            let json = #"{"writtenAt":"2001-09-09T01:46:40Z"}"#
            for path in ["/value", "/later", "/response", "/own", "/written"] {
                #expect(try await client.get(path).text == json, "\(path)")
            }
            #expect(try await Self.data(of: client, "/events") == json)
            #expect(try await client.post("/read", headers: Self.type, body: json.utf8).text == "1000000000.0")
            let half = #"{"writtenAt":"2001-09-09T03:46:40.5+02:00"}"#
            #expect(try await client.post("/read", headers: Self.type, body: half.utf8).text == "1000000000.5")
        }
    }

    @Test("A server, a group or a route says otherwise once for all that its handlers do", arguments: ["", "/group"])
    func own(prefix: String) async throws {
        var server = WebServer(port: 0)
        if prefix.isEmpty {
            server.use(Self.snakes)
            Self.addRoutes(to: &server)
        } else {
            server.group(prefix, Self.snakes) { Self.addRoutes(to: &$0) }
        }
        server.get("/plain", .json()) { _ in Self.note }
        server.get("/snakes", Self.snakes) { _ in Self.note }
        try await server.test { client async throws in
            let json = #"{"written_at":1000000000}"#
            for path in ["/value", "/later", "/response", "/written"] {
                #expect(try await client.get(prefix + path).text == json, "\(path)")
            }
            #expect(try await Self.data(of: client, prefix + "/events") == json)
            #expect(try await client.post(prefix + "/read", headers: Self.type, body: json.utf8).text == "1000000000.0")
            let standard = #"{"writtenAt":"2001-09-09T01:46:40Z"}"#
            #expect(try await client.get(prefix + "/own").text == standard)
            #expect(try await client.get("/plain").text == standard)
            #expect(try await client.get("/snakes").text == json)
        }
    }
}
