// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexFoundation

@Suite("Values of queries and forms")
struct FieldDecoderTests {
    private enum Kind: String, Decodable { case short, long }

    private struct Search: Decodable {
        var word: String
        var page: Int?
        var ratio: Double?
        var exact: Bool?
        var tag: [String]
        var ids: Set<UInt8>?
        var kind: Kind?
        var since: Date?
        var site: URL?
        var id: UUID?
        var price: Decimal?
        var large: UInt128?
    }

    private func search(_ query: String) throws -> Search {
        let items = try #require(QueryItems(query))
        return try FieldDecoder.decode(Search.self, of: items, code: .badTarget)
    }

    @Test("Items are read as the properties want them")
    func reading() throws {
        let id = UUID()
        let all = try search(
            "word=a+b&page=-2&ratio=0.5&exact=on&tag=x&tag=&tag=y&ids=1&ids=2&ids=1&kind=long&since=2001-09-09T01:46:40Z"
                + "&site=http://a/b&id=\(id)&other=1&word=second"
        )
        #expect(all.word == "a b" && all.page == -2 && all.ratio == 0.5 && all.exact == true)
        #expect(all.tag == ["x", "", "y"] && all.ids == [1, 2] && all.kind == .long && all.id == id)
        #expect(all.since?.timeIntervalSince1970 == 1_000_000_000 && all.site?.absoluteString == "http://a/b")
        #expect(try search("word=&since=2001-09-09").since?.timeIntervalSince1970 == 999_993_600)
    }

    @Test("Numbers that a Double or an Int64 can't hold are exact")
    func exactNumbers() throws {
        let some = try search("word=&price=-12.30&large=340282366920938463463374607431768211455")
        #expect(some.price.map { "\($0)" } == "-12.3" && some.large == .max)
        #expect(try search("word=&price=1e3").price == 1_000)
    }

    @Test("An optional that is missing or left empty is nil, and an array is empty")
    func absent() throws {
        for query in ["word=", "word=&page=&ratio=&exact=&ids=&kind=&since=&site=&id="] {
            let some = try search(query)
            #expect(some.word.isEmpty && some.tag.isEmpty && some.page == nil && some.ratio == nil && some.exact == nil)
            #expect(some.ids == nil && some.kind == nil && some.since == nil && some.site == nil && some.id == nil)
        }
    }

    @Test(
        "A value that is missing or unfit is told by its name, without its text",
        arguments: [
            ("page=1", #""word" is missing"#), ("word=a&page=%3Cb%3E", #""page" isn't a whole number that fits here"#),
            ("word=a&ratio=nan", #""ratio" isn't a number"#),
            ("word=a&exact=maybe", #""exact" is neither true nor false"#),
            ("word=a&ids=1&ids=256", #""ids" isn't a whole number that fits here"#),
            ("word=a&kind=%3Cb%3E", #""kind" has a value that isn't taken here"#),
            ("word=a&since=now", #""since" has a value that isn't taken here"#),
            ("word=a&id=1", #""id" has a value that isn't taken here"#),
            ("word=a&price=12x", #""price" has a value that isn't taken here"#),
            ("word=a&price=nan", #""price" has a value that isn't taken here"#),
            ("word=a&large=-1", #""large" isn't a whole number that fits here"#),
        ]
    )
    func faults(query: String, told: String) throws {
        let error = #expect(throws: HTTPProtocolError.self) { try search(query) }
        #expect(error?.code == .badTarget && error?.status == .badRequest && error?.message == told)
    }

    @Test("A dictionary has the first value of each name")
    func dictionary() throws {
        let items = try #require(QueryItems("a=1&b=2&a=3"))
        #expect(try FieldDecoder.decode([String: Int].self, of: items, code: .badTarget) == ["a": 1, "b": 2])
    }

    private struct Order: Decodable { var item: Item }
    private struct Item: Decodable { var name: String }
    private struct Table: Decodable { var rows: [[Int]] }

    @Test("A type with values within values is a mistake of the app, whatever is sent")
    func nested() throws {
        for query in ["item=1&rows=1", "rows=1"] {
            let items = try #require(QueryItems(query))
            let order = #expect(throws: DecodingError.self) {
                try FieldDecoder.decode(Order.self, of: items, code: .badTarget)
            }
            #expect(order.map { "\($0)" }?.contains(#""item" can't be of such a type"#) == true)
            #expect(throws: DecodingError.self) { try FieldDecoder.decode(Table.self, of: items, code: .badTarget) }
            #expect(throws: DecodingError.self) { try FieldDecoder.decode([Int].self, of: items, code: .badTarget) }
            #expect(throws: DecodingError.self) { try FieldDecoder.decode(Int.self, of: items, code: .badTarget) }
        }
    }

    // MARK: Requests

    private struct Login: Codable, Sendable {
        var name: String
        var tag: [String]
        var remember: Bool?
    }

    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.logger = RecordedLog().logger
        server.get("/query") { request in try request.decodeQuery(Login.self) }
        server.post("/form") { request in try await request.form(Login.self, limit: .bytes(300)) }
        server.post("/nested") { request in try await request.form(Order.self).item.name }
        try await server.test(body)
    }

    private static let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    private static let parts: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]

    private static func part(_ head: String, _ content: String) -> String {
        "--b\r\nContent-Disposition: form-data; \(head)\r\n\r\n\(content)\r\n"
    }

    @Test("The query and both kinds of forms become values")
    func requests() async throws {
        try await testing { client async throws in
            let text = "name=J%C3%BCrgen&tag=a&tag=b&remember=on"
            let parts =
                Self.part("name=\"name\"", "Jürgen") + Self.part("name=\"tag\"", "a")
                + Self.part("name=\"picture\"; filename=\"a.png\"\r\nContent-Type: image/png", "\u{1}")
                + Self.part("name=\"tag\"", "b") + Self.part("name=\"remember\"", "on") + "--b--\r\n"
            for answer in [
                try await client.get("/query?\(text)"),
                try await client.post("/form", headers: Self.form, body: text.utf8),
                try await client.post("/form", headers: Self.parts, body: parts.utf8),
            ] {
                let login = try JSONDecoder().decode(Login.self, from: Data(answer.body))
                #expect(login.name == "Jürgen" && login.tag == ["a", "b"] && login.remember == true)
            }
        }
    }

    @Test("A form that is wrong, of another type or too long has the status that says so")
    func refused() async throws {
        try await testing { client async throws in
            for (headers, body) in [(Self.form, "tag=a"), (Self.parts, Self.part("name=\"tag\"", "a") + "--b--\r\n")] {
                let answer = try await client.post("/form", headers: headers, body: body.utf8)
                #expect(answer.status == .badRequest && answer.text.contains(#""name" is missing"#), "\(answer.text)")
            }
            #expect(try await client.get("/query?tag=a").text.contains(#""name" is missing"#))
            let json: HTTPFields = [.contentType: "application/json"]
            #expect(try await client.post("/form", headers: json, body: "{}".utf8).status == .unsupportedMediaType)
            let long = String(repeating: "x", count: 301)
            #expect(
                try await client.post("/form", headers: Self.form, body: "name=\(long)".utf8).status == .contentTooLarge
            )
            let parts = Self.part("name=\"name\"", long) + "--b--\r\n"
            #expect(
                try await client.post("/form", headers: Self.parts, body: parts.utf8).status == .contentTooLarge
            )
            #expect(
                try await client.post("/nested", headers: Self.form, body: "item=1".utf8).status == .internalServerError
            )
        }
    }
}
