// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes

/// What the server has seen of a form of the demo page; nothing is kept.
struct DemoForm: Sendable, Equatable {
    struct Field: Sendable, Equatable {
        let name: String
        /// The beginning of the value; empty for a file.
        let value: String
        var filename: String?
        var type: String?
        let bytes: Int
    }

    /// `urlencoded` or `multipart`.
    let kind: String
    private(set) var fields: [Field]

    /// How many characters of a value, and bytes of a part, are looked at.
    fileprivate static let valueBound = 200

    init(kind: String, fields: [Field]) {
        (self.kind, self.fields) = (kind, fields)
    }

    /// Reads a form, sent as names and values or in parts.
    ///
    /// - Throws: `HTTPProtocolError` for what is no form, or a longer one than the route allows.
    init(_ request: Request) async throws {
        guard request.contentType?.matches("multipart/form-data") == true else {
            let items = try await request.form()
            self.init(kind: "urlencoded", fields: items.map { Field($0) })
            return
        }
        self.init(kind: "multipart", fields: [])
        for try await part in try request.multipart() { fields.append(try await Self.field(part)) }
    }

    private static func field(_ part: MultipartPart) async throws -> Field {
        var beginning: [UInt8] = []
        var count = 0
        for try await piece in part {
            count += piece.count
            beginning += piece.prefix(max(0, valueBound - beginning.count))
        }
        let value = part.filename == nil ? String(decoding: beginning, as: UTF8.self) : ""
        let type = part.filename == nil ? nil : part.mediaType.rawValue
        return Field(name: part.name, value: value, filename: part.filename, type: type, bytes: count)
    }

    /// The answer: JSON for the script of the page, and a page for a browser without it.
    func response(for request: Request) -> Response {
        let wantsPage = request.accepted.preferred(of: [.json, .html]) == .html
        var response =
            wantsPage ? Response.html(html) : Response(type: .json, body: .text(json + "\n"))
        response.vary(by: .accept)
        return response
    }

    /// An object with the kind and an array of the fields.
    var json: String {
        let objects = fields.map { field in
            var members = JSONText.Members()
            members.add("name", field.name)
            members.add("value", field.value)
            members.add("filename", field.filename)
            members.add("type", field.type)
            members.add("bytes", field.bytes)
            return JSONText.object(members.all)
        }
        var members = JSONText.Members()
        members.add("kind", kind)
        members.add("fields", .array(objects))
        return JSONText.object(members.all).text
    }

    /// A page with the fields, in which nothing that was sent is markup.
    var html: String {
        let rows = fields.map { field in
            let file = field.filename.map { " (the file “\(HTMLEscaping.escaped($0))”, \(field.bytes) bytes)" } ?? ""
            return
                "<li><code>\(HTMLEscaping.escaped(field.name))</code>: \(HTMLEscaping.escaped(field.value))\(file)</li>"
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>Duplex: a form</title>
                <link rel="stylesheet" href="/demo/duplex.css">
            </head>
            <body>
                <main><section class="panel">
                    <h1>The form as the server has seen it</h1>
                    <p>Sent as \(kind).</p>
                    <ul>\(rows.joined())</ul>
                </section></main>
            </body>
            </html>

            """
    }
}

extension DemoForm.Field {
    fileprivate init(_ item: QueryItems.Item) {
        self.init(name: item.name, value: String(item.value.prefix(DemoForm.valueBound)), bytes: item.value.utf8.count)
    }
}
