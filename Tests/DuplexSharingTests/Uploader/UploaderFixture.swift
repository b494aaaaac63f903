// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

/// A server with an uploader of a folder of its own at `/files`, for tests, and the same folder by WebDAV at `/dav`.
struct UploaderFixture {
    private struct ProblemDetails: Decodable {
        var status: Int
        var detail: String
    }

    let client: TestClient
    let folder: SharedFolder
    /// With a slash at its end.
    let root: String
    /// The user whom requests come from.
    var user: String?

    static func run(
        _ files: [String: String] = [:],
        links: [String: String] = [:],
        showing: UploaderOptions = UploaderOptions(),
        folder options: FolderOptions = FolderOptions(),
        _ body: (UploaderFixture) async throws -> Void
    ) async throws {
        try await withTestFolder(files, links: links) { root in
            let folder = try SharedFolder(root, options: options)
            var server = WebServer(port: 0)
            server.uploader("/files", .userField, folder: folder, options: showing)
            server.webDAV("/dav", .userField, folder: folder)
            try await server.test { client async throws in
                try await body(UploaderFixture(client: client, folder: folder, root: root))
            }
        }
    }

    /// A folder in which `reader` may read, `writer` may write, and nobody else may anything.
    static var roles: FolderOptions {
        var options = FolderOptions()
        options.access = { $0.user == "writer" ? .readAndWrite : $0.user == "reader" ? .read : .none }
        return options
    }

    func with(_ user: String) -> UploaderFixture {
        var copy = self
        copy.user = user
        return copy
    }

    func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields = [:],
        _ body: String = ""
    ) async throws -> TestResponse {
        var headers = headers
        if let user, let name = HTTPField.Name("X-User") { headers[name] = user }
        return try await client.request(method, "/files/" + path, headers: headers, body: Array(body.utf8))
    }

    func get(_ path: String, _ headers: HTTPFields = [:]) async throws -> TestResponse {
        try await request(.get, path, headers)
    }

    /// Posts JSON, in which single quotes stand for double ones.
    func post(_ path: String, _ json: String, _ others: HTTPFields = [:]) async throws -> TestResponse {
        var headers = others
        headers[.contentType] = "application/json"
        return try await request(.post, path, headers, json.replacing("'", with: "\""))
    }

    // MARK: What the API answers with 200

    func list(_ query: String = "") async throws -> UploaderAnswer.Listing {
        try Self.answer(await get("list\(query)"))
    }

    func search(_ query: String) async throws -> UploaderAnswer.Found { try Self.answer(await get("search\(query)")) }

    var trash: [UploaderAnswer.Item] {
        get async throws { try Self.answer(await get("trash"), UploaderAnswer.Trash.self).items }
    }

    func change(_ path: String, _ json: String) async throws -> [UploaderAnswer.Changed.Change] {
        try Self.answer(await post(path, json), UploaderAnswer.Changed.self).changed
    }

    func delete(_ json: String) async throws -> [UploaderAnswer.Place] {
        try Self.answer(await post("delete", json), UploaderAnswer.Trashed.self).trashed
    }

    func restore(_ json: String) async throws -> [UploaderAnswer.Place] {
        try Self.answer(await post("restore", json), UploaderAnswer.Restored.self).restored
    }

    static func answer<Value: Decodable>(_ response: TestResponse, _ type: Value.Type = Value.self) throws -> Value {
        guard response.status == .ok else { throw Problem(response.status, response.text) }
        #expect(response.headers[.contentType] == "application/json" && response.headers[.cacheControl] == "no-store")
        return try CompactJSON.value(type, of: response.text)
    }

    // MARK: Refusals

    /// The status of a POST; that of a refusal is in its problem details, too.
    func code(_ path: String, _ json: String, _ headers: HTTPFields = [:]) async throws -> Int {
        try Self.code(try await post(path, json, headers))
    }

    /// The status of a GET; that of a refusal is in its problem details, too.
    func code(_ path: String) async throws -> Int { try Self.code(try await get(path)) }

    private static func code(_ response: TestResponse) throws -> Int {
        if response.status.code < 400 { return response.status.code }
        #expect(response.headers[.contentType] == "application/problem+json")
        let problem = try CompactJSON.value(ProblemDetails.self, of: response.text)
        #expect(problem.status == response.status.code && !problem.detail.isEmpty)
        return response.status.code
    }

    /// The text of a file below the folder; `nil` where there is none.
    func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: root + path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What is in the folder, without what is the server's.
    var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: root).filter { !$0.hasPrefix(".duplex") }.sorted()
        }
    }
}

/// Paths that aren't, by which nothing is to be reached, as JSON has them.
let badPaths = [
    "..", "../x", "a/..", "a/../../x", "./a", "a//b", ".duplex", ".duplex/trash", "a/.duplex-x", "a\\u0000b",
    "a\\u000ab", "\\u202egnp.a", "%2e%2e/\\u0000",
]
