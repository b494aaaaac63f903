// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Requests and responses in JSON")
struct RequestJSONTests {
    private struct Order: Codable, Sendable {
        struct Item: Codable, Sendable {
            var name: String
            var count: Int
        }

        var items: [Item]
        var note: String?
    }

    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.post("/orders") { request in
            var order = try await request.decode(Order.self, limit: 200)
            order.note = "taken"
            return try Response(.created, json: order)
        }
        try await server.test(body)
    }

    private static let type: HTTPFields = [.contentType: "application/json; charset=utf-8"]

    @Test("A value comes in and another goes out")
    func values() async throws {
        try await testing { client async throws in
            let sent = #"{"items":[{"name":"ä","count":2}]}"#
            let answer = try await client.post("/orders", headers: Self.type, body: sent.utf8)
            #expect(answer.status == .created && answer.headers[.contentType] == "application/json")
            #expect(answer.text.contains(#""note":"taken""#) && answer.text.contains(#""name":"ä""#))
        }
    }

    @Test(
        "What isn't such a value is 400 and told where",
        arguments: [
            ("", "isn't JSON"), ("{", "isn't JSON"), ("{}", "has no items"), (#"{"items":3}"#, "another type at items"),
            (#"{"items":[{"name":"a","count":1},{"name":"a"}]}"#, "has no items.1.count"),
            (#"{"items":[{"name":null,"count":1}]}"#, "null at items.0.name"),
            (#"{"items":[{"name":"<b>","count":"x"}]}"#, "another type at items.0.count"),
        ]
    )
    func faults(body: String, told: String) async throws {
        try await testing { client async throws in
            let answer = try await client.post("/orders", headers: Self.type, body: body.utf8)
            #expect(
                answer.status == .badRequest && answer.text.contains(told) && !answer.text.contains("<b>"),
                "\(answer.text)"
            )
        }
    }

    @Test("What isn't said to be JSON is 415, and what is too long is 413")
    func refused() async throws {
        try await testing { client async throws in
            for type in [
                HTTPFields(), [.contentType: "text/plain"], [.contentType: "application/x-www-form-urlencoded"],
            ] {
                let answer = try await client.post("/orders", headers: type, body: #"{"items":[]}"#.utf8)
                #expect(answer.status == .unsupportedMediaType)
            }
            let long = #"{"items":[],"note":""# + String(repeating: "x", count: 200) + "\"}"
            #expect(try await client.post("/orders", headers: Self.type, body: long.utf8).status == .contentTooLarge)
        }
    }
}
