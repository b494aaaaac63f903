// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexMustache
import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Pages from templates")
struct MustacheTemplatesTests {
    private struct User {
        var name: String
        var notes: [String]
    }

    @Test("A byte order mark at the beginning of a template isn't a part of it")
    func byteOrderMark() async throws {
        let files = ["a.mustache": "\u{FEFF}{{> b}}", "b.mustache": "\u{FEFF}x"]
        try await withTemplates(files) { folder async throws in
            let templates = try MustacheTemplates(folder: folder)
            var server = WebServer(port: 0)
            server.get("/") { _ in try templates.page("a", [String: String]()) }
            try await server.test { client async throws in
                #expect(Array(try await client.get("/").text.utf8) == Array("x".utf8))
            }
        }
    }

    @Test("A template makes a page of values, with other templates in it")
    func page() async throws {
        let files = [
            "user.mustache": "{{> parts/head}}<p>{{name}}</p>\n{{#notes}}\n<li>{{.}}\n{{/notes}}\n",
            "parts/head.mustache": "<title>{{name}}</title>\n", "other.txt": "{{",
        ]
        try await withTemplates(files) { folder async throws in
            let templates = try MustacheTemplates(folder: folder)
            #expect(templates.names == ["parts/head", "user"])
            var server = WebServer(port: 0)
            server.get("/") { _ in try templates.page("user", User(name: "A & B", notes: ["<1>", "2"])) }
            server.get("/text") { _ in
                try templates.page("parts/head", ["name": "x"], status: .notFound, type: .plainText)
            }
            server.get("/missing") { _ in try templates.page("no", [String: String]()) }
            try await server.test { client async throws in
                let page = try await client.get("/")
                #expect(page.headers[.contentType] == "text/html; charset=utf-8")
                #expect(page.text == "<title>A &amp; B</title>\n<p>A &amp; B</p>\n<li>&lt;1&gt;\n<li>2\n")
                let text = try await client.get("/text")
                #expect(text.status == .notFound && text.headers[.contentType] == "text/plain; charset=utf-8")
                let missing = try await client.get("/missing")
                #expect(missing.status == .internalServerError && !missing.text.contains("folder"))
            }
            let error = #expect(throws: TemplateError.self) { try templates.text("no", [String: String]()) }
            #expect(error?.code == .missing && error?.template == "no")
        }
    }

    @Test("Values are escaped wherever a template doesn't say otherwise, also in partials and blocks")
    func escaping() async throws {
        let files = [
            "a.mustache": "{{x}}|{{{x}}}|{{&x}}|{{> b}}|{{#list}}{{.}}{{/list}}",
            "b.mustache": "<a title=\"{{x}}\">", "layout.mustache": "<{{$body}}{{/body}}>",
            "page.mustache": "{{<layout}}{{$body}}{{x}}{{/body}}{{/layout}}",
        ]
        try await withTemplates(files) { folder async throws in
            let templates = try MustacheTemplates(folder: folder)
            let text = try templates.text("a", ["x": "\"", "list": ["'<"]] as [String: Any])
            #expect(text == "&quot;|\"|\"|<a title=\"&quot;\">|&#39;&lt;")
            #expect(try templates.text("page", ["x": "<"]) == "<&lt;>")
            // An accent on a quotation mark doesn't keep a browser from seeing it.
            #expect(try templates.text("b", ["x": "\"\u{301} onclick=\"\u{301}"]).utf8.count { $0 == 0x22 } == 2)
        }
    }

    @Test("Files that have changed, come or gone are read anew where that is asked for, and only there")
    func reloading() async throws {
        try await withTemplates(["a.mustache": "one {{x}}"]) { folder async throws in
            let fixed = try MustacheTemplates(folder: folder)
            let fresh = try MustacheTemplates(folder: folder, reloads: true)
            #expect(try fresh.text("a", ["x": 1]) == "one 1")
            try write("another {{x}}", to: "\(folder)/a.mustache")
            try write("new", to: "\(folder)/b.mustache")
            #expect(try fresh.text("a", ["x": 1]) == "another 1")
            #expect(try fresh.text("b", ["x": 1]) == "new")
            #expect(try fixed.text("a", ["x": 1]) == "one 1")
            try write("{{#open}}", to: "\(folder)/a.mustache")
            #expect(throws: TemplateError.self) { try fresh.text("b", ["x": 1]) }
        }
    }
}
