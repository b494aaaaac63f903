// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSharing
import DuplexWire
import Foundation
import GRDB

/// The part that shows SQLite databases.
struct DatabaseRoom: InspectorRoom {
    /// How many rows a page of a table has at most.
    static let pageLimit = 500
    /// How long a page of rows, the schema or a cell takes at most.
    static let time = Duration.seconds(5)
    /// How long SQL that writes holds a database by default.
    static let holdingTime = Duration.milliseconds(25)

    let page = "databases"
    let catalogue: DatabaseCatalogue
    /// How long SQL that somebody writes may take, and how many rows of what it gives are shown.
    let sqlTime: Duration
    let sqlRows: Int
    /// How many copies are being made.
    private let copies = ViewerCount()

    init(catalogue: DatabaseCatalogue, sqlTime: Duration, sqlRows: Int) {
        self.catalogue = catalogue
        self.sqlTime = sqlTime
        self.sqlRows = sqlRows
    }

    /// How much memory an answer may take.
    private static let rowsSize = ByteCount.mebibytes(8)
    private static let schemaSize = ByteCount.mebibytes(32)

    func add(to routes: inout InspectorRoutes) {
        let budget = routes.budget
        routes.get("/databases/list") { request in try await list(request) }
        routes.get("/databases/schema", holding: Self.schemaSize) { request in
            InspectorAnswer.json(
                text: try await file(request).read(within: Self.time) { database, rules in
                    try CompactJSON.text(of: DatabaseSchema(database, rules))
                }
            )
        }
        routes.get("/databases/rows", holding: Self.rowsSize) { request in try await rows(request) }
        routes.get("/databases/cell", holding: Self.rowsSize) { request in try await cell(request) }
        routes.get("/databases/value", holding: Self.rowsSize) { request in try await value(request) }
        routes.get("/databases/export") { request in try await export(request, budget) }
        routes.get("/databases/download") { request in try await download(request) }
        // It only reads: a query may be longer than an address.
        routes.mount { group in
            group.post("/databases/query", .bodySize(.mebibytes(1))) { request in
                try await budget.holding(Self.rowsSize) { try await query(request) }
            }
        }
        routes.change(.sql, "/databases/execute") { request, note in
            try await budget.holding(Self.rowsSize) { try await execute(request, note) }
        }
    }

    func file(_ request: Request) async throws -> DatabaseFile {
        try await file(request.queryItems["database"] ?? "", request)
    }

    private func file(_ id: String, _ request: Request) async throws -> DatabaseFile {
        try await catalogue.file(id, for: FolderVisitor(request))
    }

    /// The databases that there are.
    struct List: Codable {
        struct Entry: Codable {
            var id: String
            /// Whether the app has named it; others were found in folders.
            var isNamed: Bool
            /// Why it can't be opened.
            var problem: String?
            var size: Int?
            /// In seconds since 1970.
            var modified: Double?
        }

        var databases: [Entry]
    }

    private func list(_ request: Request) async throws -> Response {
        let entries = try await catalogue.all(for: FolderVisitor(request)).map { entry in
            let attributes = try? FileManager.default.attributesOfItem(atPath: entry.path)
            return List.Entry(
                id: entry.id,
                isNamed: catalogue.named[entry.id] != nil,
                problem: entry.problem,
                size: (attributes?[.size] as? NSNumber)?.intValue,
                modified: (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
            )
        }
        return try InspectorAnswer.json(List(databases: entries))
    }

    /// What statements have given.
    struct Results: Codable {
        var results: [DatabaseResult.JSON]
    }

    private static func text(_ results: [DatabaseResult]) throws -> String {
        try CompactJSON.text(of: Results(results: results.map(\.json)))
    }

    /// A copy of the whole database, to be kept.
    private func download(_ request: Request) async throws -> Response {
        let id = try request.queryItems["database"] ?? ""
        let file = try await file(id, request)
        guard copies.enter(upTo: 1) else {
            throw Problem(.serviceUnavailable, "A copy of a database is being made already: try again.")
        }
        defer { copies.leave() }
        let copy = try await file.copy()
        // The system keeps what is open until it has been sent.
        var response = Response(type: "application/vnd.sqlite3", body: try .file(copy.path))
        let name = id.split(separator: "/").last.map(String.init) ?? "database"
        response.attach(as: DatabaseCatalogue.hasName(name) ? name : name + ".sqlite")
        return response
    }

    // MARK: Rows

    /// Some rows of a table.
    struct Rows: Codable {
        var table: DatabaseTable
        var result: DatabaseResult.JSON
    }

    private func rows(_ request: Request) async throws -> Response {
        let items = try request.queryItems
        let selection = try DatabaseSelection(items)
        let count = min(max(1, Int(items["count"] ?? "") ?? 100), Self.pageLimit)
        let offset = max(0, Int(items["offset"] ?? "") ?? 0)
        let text = try await file(request).read(within: Self.time) { database, rules in
            let table = try DatabaseTable(selection.table, database)
            // One more shows whether there are more.
            let query = try selection.statement(table, count: count + 1, offset: offset)
            let result = try query.run(database, rules, .list(count))
            return try CompactJSON.text(of: Rows(table: table, result: result.json))
        }
        return InspectorAnswer.json(text: text)
    }

    // MARK: SQL

    private struct Wish: Decodable {
        var database: String
        var sql: String
        var plan: Bool?
        /// Whether it may hold the database for longer than a moment.
        var mayTakeLong: Bool?
    }

    private func query(_ request: Request) async throws -> Response {
        let wish = try await request.decode(Wish.self)
        let limits = DatabaseResult.Limits.list(sqlRows)
        let text = try await file(wish.database, request).read(within: sqlTime) { database, rules in
            try Self.text(
                wish.plan == true
                    ? DatabaseResult.plans(wish.sql, database)
                    : DatabaseResult.all(wish.sql, database, limits, rules)
            )
        }
        return InspectorAnswer.json(text: text)
    }

    private func execute(_ request: Request, _ note: ChangeNote) async throws -> Response {
        let wish = try await request.decode(Wish.self)
        note.says("\(wish.database): \(wish.sql)")
        let limits = DatabaseResult.Limits.list(sqlRows)
        let time = wish.mayTakeLong == true ? sqlTime : Self.holdingTime
        let (text, changes) = try await file(wish.database, request).write(within: time) { database, rules in
            let results = try DatabaseResult.all(wish.sql, database, limits, rules)
            return (try Self.text(results), results.reduce(0) { $0 + $1.changes })
        }
        note.says("\(wish.database), \(changes) rows: \(wish.sql)")
        return InspectorAnswer.json(text: text)
    }
}
