// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import GRDB
import HTTPTypes
import Logging
import Testing

@testable import DuplexInspector

/// A database for tests, with a table of each kind of value.
enum DatabaseFixture {
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    static let sql = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age REAL DEFAULT 1, picture BLOB);
        CREATE INDEX people_name ON people (name);
        CREATE VIEW adults AS SELECT name, age FROM people WHERE age >= 18;
        CREATE TRIGGER people_added AFTER INSERT ON people BEGIN SELECT 1; END;
        CREATE TABLE pairs (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE odd (rowid TEXT, oid TEXT, _rowid_ TEXT);
        INSERT INTO people VALUES (1, 'Ann', 30, x'89504e470d0a1a0a010203'), (2, 'Bob', 7.5, NULL),
            (3, 'C_c%', 9223372036854775807, x'00ff');
        INSERT INTO pairs VALUES ('a', 'b'), ('c', 'd');
        INSERT INTO odd VALUES ('r', 'o', '_');
        """

    /// Makes a database.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - mode: its journal.
    ///   - sql: what is in it.
    /// - Throws: `DatabaseError`.
    static func make(_ path: String, mode: String = "DELETE", _ sql: String = DatabaseFixture.sql) throws {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try queue.inDatabase { database throws in
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = \(mode)")
            try database.execute(sql: sql)
        }
    }

    /// Runs a test with a database in a folder of its own.
    static func run(
        mode: String = "DELETE",
        _ sql: String = DatabaseFixture.sql,
        _ body: (DatabaseFile) async throws -> Void
    ) async throws {
        try await withTestFolder { root async throws in
            try make(root + "main.db", mode: mode, sql)
            try await body(DatabaseFile(path: root + "main.db"))
        }
    }

    /// The sentence of what a body throws as a problem.
    static func problem(_ body: () async throws -> Void) async -> Problem? {
        do {
            try await body()
            return nil
        } catch {
            return error as? Problem
        }
    }
}

/// An inspector in front of a test's client, asked with its token.
struct InspectorClient {
    let client: TestClient
    private let token: String

    static func run(
        _ options: InspectorOptions,
        logger: Logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
        _ body: (InspectorClient) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.logger = logger
        let inspector = server.inspector("/_inspect", options: options)
        try await server.test { client in
            try await body(InspectorClient(client: client, token: inspector.token))
        }
    }

    func get(_ path: String, _ query: KeyValuePairs<String, String> = [:]) async throws -> TestResponse {
        let allowed = CharacterSet.alphanumerics
        let items = query.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }
        let target = "/_inspect/\(path)" + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
        return try await client.get(target, headers: [.authorization: "Bearer \(token)"])
    }

    func request(_ method: HTTPRequest.Method, _ path: String) async throws -> TestResponse {
        try await client.request(method, "/_inspect/\(path)", headers: [.authorization: "Bearer \(token)"])
    }

    func post(_ path: String, _ value: [String: any Sendable]) async throws -> TestResponse {
        let body = try JSONSerialization.data(withJSONObject: value)
        return try await client.post(
            "/_inspect/\(path)",
            headers: [.authorization: "Bearer \(token)", .contentType: "application/json"],
            body: Array(body)
        )
    }
}

extension TestResponse {
    /// The body as a value in JSON.
    func value<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try CompactJSON.value(type, of: text)
    }

    /// The body as an object of JSON.
    var object: [String: Any] {
        get throws { try #require(JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) }
    }
}
