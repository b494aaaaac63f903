// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("Values in JSON in tests of a server")
struct TestJSONTests {
    private struct Note: Codable, Equatable {
        var text: String
        var date: Date?
    }

    /// A server that sends back bodies that are said to be JSON.
    private static func server() -> WebServer {
        var server = WebServer(port: 0)
        for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
            server.on(method, "/notes") { request in
                guard let type = request.contentType, type.isJSON else { return Response(.unsupportedMediaType) }
                return Response(.created, type: type, body: try await request.body.collect())
            }
        }
        server.get("/text") { _ in "no JSON" }
        return server
    }

    @Test("A value is sent and read by each method")
    func roundTrip() async throws {
        let note = Note(text: "hi")
        try await Self.server().test { client async throws in
            let posted = try await client.post("/notes", json: note)
            #expect(posted.status == .created && posted.headers[.contentType] == "application/json")
            #expect(try posted.decode(Note.self) == note)
            #expect(try await client.put("/notes", json: note).decode() == note)
            #expect(try await client.patch("/notes", json: note).decode() == note)
            #expect(try await client.request(.delete, "/notes", json: [note]).decode() == [note])
        }
    }

    @Test("Dates are in ISO 8601 as of a server, and are read with a fraction of a second, too")
    func dates() async throws {
        let note = Note(text: "hi", date: Date(timeIntervalSince1970: 0))
        try await Self.server().test { client async throws in
            let response = try await client.post("/notes", json: note)
            #expect(response.text.contains("1970-01-01T00:00:00Z"))
            #expect(try response.decode(Note.self) == note)
            let later = ["text": "hi", "date": "1970-01-01T00:00:00.500Z"]
            let halfASecond = try await client.post("/notes", json: later).decode(Note.self).date
            #expect(halfASecond == Date(timeIntervalSince1970: 0.5))
        }
    }

    @Test("The media type of the fields is kept, and the encoder and decoder are the test's")
    func settings() async throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let note = Note(text: "hi", date: Date(timeIntervalSince1970: 0))
        try await Self.server().test { client async throws in
            let type: HTTPFields = [.contentType: "application/merge-patch+json"]
            let response = try await client.patch("/notes", json: note, headers: type, encoder: encoder)
            #expect(response.headers[.contentType] == "application/merge-patch+json")
            #expect(response.text.contains("1970-01-01T00:00:00Z"))
            #expect(try response.decode(Note.self, decoder: decoder) == note)
        }
    }

    @Test("The error of a response that isn't such a value shows the response")
    func undecodable() async throws {
        try await Self.server().test { client async throws in
            let response = try await client.get("/text")
            let error = #expect(throws: TestingError.self) { try response.decode(Note.self) }
            #expect(error?.code == .undecodable)
            let text = error?.description ?? ""
            #expect(text.hasPrefix("The response has no Note in JSON: "))
            #expect(text.contains("\n200 OK\n") && text.hasSuffix("\n\nno JSON"))
        }
    }
}
