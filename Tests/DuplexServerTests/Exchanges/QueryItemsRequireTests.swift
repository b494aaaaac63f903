// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Typed values of a query and a form")
struct QueryItemsRequireTests {
    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.get("/need") { request in
            let query = try request.query
            return "\(try query.require("page", as: Int.self)) \(try query.require("word"))"
        }
        server.get("/may") { request in
            let query = try request.query
            let page = try query.require("page", as: Int.self, default: 1)
            let size = try query.require("size", default: 0.5)
            return "\(page) \(size) \(try query.require("all", default: false))"
        }
        server.post("/form") { request in
            "\(try await request.form().require("age", as: Int.self) + 1)"
        }
        try await server.test(body)
    }

    @Test("Items are read as what they are to be, the first of a name, or another value is taken")
    func reading() async throws {
        try await testing { client async throws in
            #expect(try await client.get("/need?page=2&word=a+b&page=x").text == "2 a b")
            #expect(try await client.get("/may").text == "1 0.5 false")
            #expect(try await client.get("/may?page=-3&size=2&all=on").text == "-3 2.0 true")
            let type: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            #expect(try await client.post("/form", headers: type, body: "age=41".utf8).text == "42")
            let text = try await client.post("/form", headers: type, body: "age=old".utf8)
            #expect(text.status == .badRequest && text.text.contains(#""age" isn't a whole number"#))
        }
    }

    @Test(
        "An item that is missing or stands for no such value is 400 with its name, and without its text",
        arguments: [
            ("/need?word=a", #""page" is missing."#), ("/need?page=1", #""word" is missing."#),
            ("/need?page=%3Cb%3E&word=a", #""page" isn't a whole number that fits here."#),
            ("/may?page=", #""page" isn't a whole number that fits here."#),
            ("/may?size=nan", #""size" isn't a number."#), ("/may?all=maybe", #""all" is neither true nor false."#),
        ]
    )
    func faults(path: String, told: String) async throws {
        try await testing { client async throws in
            let answer = try await client.get(path)
            #expect(answer.status == .badRequest && answer.text == "400 Bad Request\n\(told)\n", "\(answer.text)")
        }
    }
}
