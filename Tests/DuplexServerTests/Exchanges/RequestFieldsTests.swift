// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("What the fields of a request say")
struct RequestFieldsTests {
    @Test("Query, cookies, types, languages and ranges are read where a handler asks for them")
    func reading() async throws {
        var server = WebServer(port: 0)
        server.get("/query") { request in
            let items = try request.query
            return "\(items[values: "a"].joined(separator: "|")) \(items["b"] ?? "-") \(items.count)"
        }
        server.get("/cookies") { request in "\(request.cookies["session"] ?? "-") \(request.cookies.count)" }
        server.post("/type") { request in
            "\(request.contentType?.essence ?? "-") \(request.contentType?.charset ?? "-")"
        }
        server.get("/prefers") { request in
            let language = request.acceptedLanguages.preferred(of: ["en", "de"]) ?? "-"
            let coding = request.acceptedCodings.preferred(of: ["gzip", "identity"]) ?? "-"
            return "\(request.accepted.preferred(of: [.json, .html])?.essence ?? "-") \(language) \(coding)"
        }
        server.get("/ranges") { request in "\(String(describing: request.ranges?.selection(of: 10)))" }
        try await server.test { client async throws in
            #expect(try await client.get("/query?a=1&b=x+y%26&a=2").text == "1|2 x y& 3")
            #expect(try await client.get("/query").text == " - 0")
            #expect(try await client.get("/query?a=%zz").status == .badRequest)
            #expect(try await client.get("/cookies", headers: [.cookie: "session=abc; x=1"]).text == "abc 2")
            #expect(try await client.get("/cookies").text == "- 0")
            #expect(
                try await client.post("/type", headers: [.contentType: "Text/Plain; charset=\"UTF-8\""]).text
                    == "text/plain utf-8"
            )
            #expect(try await client.post("/type").text == "- -")
            let headers: HTTPFields = [
                .accept: "text/html", .acceptLanguage: "de-AT, de;q=0.9", .acceptEncoding: "gzip",
            ]
            #expect(try await client.get("/prefers", headers: headers).text == "text/html de gzip")
            #expect(try await client.get("/prefers").text == "application/json en identity")
            #expect(try await client.get("/ranges", headers: [.range: "bytes=2-3"]).text.contains("2..<4"))
            #expect(try await client.get("/ranges").text == "nil")
        }
    }
}
