// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
    /// What the API answers, whichever of it.
    struct Answer: Decodable, Equatable {
        struct Entry: Decodable, Equatable {
            var id: String?
            var from: String?
            var path: String?
            var name: String?
            var kind: String?
            var size: Int?
            var modified: String?
            var deleted: String?
            var type: String?
            var tag: String?
            var replaced: Bool?
        }

        var path: String?
        var entries: [Entry]?
        var isCut: Bool?
        var mayWrite: Bool?
        var free: Int?
        var quota: Int?
        var changed: [Entry]?
        var trashed: [Entry]?
        var items: [Entry]?
        var restored: [Entry]?
        var status: Int?
        var detail: String?
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
            let folder = try SharedFolder(root, options)
            var server = WebServer(port: 0)
            server.uploader("/files", .userField, root: folder, showing: showing)
            server.webDAV("/dav", .userField, root: folder)
            try await WebServer.testing(server) { client async throws in
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
        _ fields: HTTPFields = [:],
        _ body: String = ""
    ) async throws -> TestResponse {
        var fields = fields
        if let user, let name = HTTPField.Name("X-User") { fields[name] = user }
        return try await client.request(method, "/files/" + path, fields: fields, body: Array(body.utf8))
    }

    func get(_ path: String, _ fields: HTTPFields = [:]) async throws -> TestResponse {
        try await request(.get, path, fields)
    }

    /// Posts JSON, in which single quotes stand for double ones.
    func post(_ path: String, _ json: String, _ others: HTTPFields = [:]) async throws -> TestResponse {
        var fields = others
        fields[.contentType] = "application/json"
        return try await request(.post, path, fields, json.replacing("'", with: "\""))
    }

    /// What a GET answers with 200.
    func answer(_ path: String) async throws -> Answer { try Self.answer(try await get(path)) }

    /// What a POST answers with 200.
    func answer(_ path: String, _ json: String) async throws -> Answer {
        try Self.answer(try await post(path, json))
    }

    private static func answer(_ response: TestResponse) throws -> Answer {
        guard response.status == .ok else { throw Problem(response.status, response.text) }
        #expect(response.fields[.contentType] == "application/json" && response.fields[.cacheControl] == "no-store")
        return try JSONDecoder().decode(Answer.self, from: Data(response.body))
    }

    /// The status of a POST; that of a refusal is in its problem details, too.
    func code(_ path: String, _ json: String, _ fields: HTTPFields = [:]) async throws -> Int {
        try Self.code(try await post(path, json, fields))
    }

    /// The status of a GET; that of a refusal is in its problem details, too.
    func code(_ path: String) async throws -> Int { try Self.code(try await get(path)) }

    private static func code(_ response: TestResponse) throws -> Int {
        if response.status.code < 400 { return response.status.code }
        #expect(response.fields[.contentType] == "application/problem+json")
        let problem = try JSONDecoder().decode(Answer.self, from: Data(response.body))
        #expect(problem.status == response.status.code && problem.detail?.isEmpty == false)
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
