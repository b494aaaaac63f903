// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexJSON
import DuplexServer
import DuplexWire
import Foundation
import GRDB

/// The part that shows SQLite databases.
struct DatabaseRoom: InspectorRoom {
    /// How many rows a page of a table has at most.
    static let pageLimit = 500
    /// How long a page of rows, the schema or a cell takes at most.
    static let time = Duration.seconds(5)
    /// How long SQL that writes holds a database, unless it is told to take longer.
    static let holdingTime = Duration.milliseconds(25)

    let page = "databases"
    let catalogue: DatabaseCatalogue
    /// How long SQL that somebody writes may take, and how many rows of what it gives are shown.
    let sqlTime: Duration
    let sqlRows: Int

    func add(to routes: inout InspectorRoutes) {
        routes.get("/databases/list") { request in try await list(request) }
        routes.get("/databases/schema") { request in
            Self.answer(try await file(request).read(within: Self.time) { try DatabaseSchema.json($0, $1).text })
        }
        routes.get("/databases/rows") { request in try await rows(request) }
        routes.get("/databases/cell") { request in try await cell(request) }
        routes.get("/databases/value") { request in try await value(request) }
        routes.get("/databases/export") { request in try await export(request) }
        // It only reads: a query may be longer than an address.
        routes.mount { group in
            group.post("/databases/query", .bodySize(.mebibytes(1))) { request in try await query(request) }
        }
        routes.change(.sql, "/databases/execute") { request, note in try await execute(request, note) }
    }

    func file(_ request: Request) async throws -> DatabaseFile {
        try await file(request.queryItems["database"] ?? "", request)
    }

    private func file(_ id: String, _ request: Request) async throws -> DatabaseFile {
        try await catalogue.file(id, for: FolderVisitor(request))
    }

    private func list(_ request: Request) async throws -> Response {
        let entries = try await catalogue.all(for: FolderVisitor(request)).map { entry in
            var members = JSONText.Members()
            members.add("id", entry.id)
            members.add("isNamed", catalogue.named[entry.id] != nil)
            members.add("problem", entry.problem)
            let attributes = try? FileManager.default.attributesOfItem(atPath: entry.path)
            members.add("size", (attributes?[.size] as? NSNumber)?.intValue)
            members.add("modified", (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970)
            return JSONText.object(members.all)
        }
        return InspectorAnswer.object { $0.add("databases", .array(entries)) }
    }

    /// An answer whose JSON was written where it may take a while: beside the event loops.
    private static func answer(_ json: String) -> Response {
        Response(type: .json, fields: [.cacheControl: "no-store"], body: .text(json + "\n"))
    }

    private static func text(_ results: [DatabaseResult]) -> String {
        JSONText.object([JSONText.Member(name: "results", value: .array(results.map(\.json)))]).text
    }

    // MARK: Rows

    private func rows(_ request: Request) async throws -> Response {
        let items = try request.queryItems
        let selection = try DatabaseSelection(items)
        let count = min(max(1, Int(items["count"] ?? "") ?? 100), Self.pageLimit)
        let offset = max(0, Int(items["offset"] ?? "") ?? 0)
        let text = try await file(request).read(within: Self.time) { database, _ in
            let table = try DatabaseTable(selection.table, database)
            // One more tells whether there are more.
            let query = try selection.statement(table, count: count + 1, offset: offset)
            let result = try query.run(database, .list(count))
            var members = JSONText.Members()
            members.add("table", table.json)
            members.add("result", result.json)
            return JSONText.object(members.all).text
        }
        return Self.answer(text)
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
        let text = try await file(wish.database, request).read(within: sqlTime) { database, _ in
            Self.text(
                wish.plan == true
                    ? try DatabaseResult.plans(wish.sql, database)
                    : try DatabaseResult.all(wish.sql, database, limits)
            )
        }
        return Self.answer(text)
    }

    private func execute(_ request: Request, _ note: ChangeNote) async throws -> Response {
        let wish = try await request.decode(Wish.self)
        note.says("\(wish.database): \(wish.sql)")
        let limits = DatabaseResult.Limits.list(sqlRows)
        let time = wish.mayTakeLong == true ? sqlTime : Self.holdingTime
        let (text, changes) = try await file(wish.database, request).write(within: time) { database, _ in
            let results = try DatabaseResult.all(wish.sql, database, limits)
            return (Self.text(results), results.reduce(0) { $0 + $1.changes })
        }
        note.says("\(wish.database), \(changes) rows: \(wish.sql)")
        return Self.answer(text)
    }
}
