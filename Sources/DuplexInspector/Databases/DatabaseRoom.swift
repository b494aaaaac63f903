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
        try await file(request.query["database"] ?? "", request)
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
        let id = try request.query["database"] ?? ""
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
        let items = try request.query
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
        let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
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
        let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
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

    // MARK: Values

    /// How much of a value is shown; all of it can be downloaded.
    private static let shown = 256 * 1_024
    /// The longest value that is sent.
    private static let valueLimit = DatabaseRules.valueLimit
    /// How long and how large the result of a query, or of a sorted table, may be to be sent as a file.
    static let exportLimits = DatabaseResult.Limits(rows: 1_000_000, cell: 16 << 20, bytes: 64 << 20)
    /// How much memory it takes: the rows as they were read, and what is made of them.
    private static let exportSize = ByteCount.mebibytes(128)
    /// How much that of a whole table takes, which is read page by page.
    private static let tableSize = ByteCount.mebibytes(32)
    /// How many rows of a table are read at a time.
    private static let exportPage = 2_000

    // MARK: Cells

    /// A value with what it is, as far as it is shown.
    struct Cell: Codable {
        @OrNull var cell: DatabaseCell.JSON?
        /// The media type of a picture.
        var image: String?
        /// How many of its bytes are shown.
        var shown: Int?
    }

    func cell(_ request: Request) async throws -> Response {
        let cell = try await cell(request, keeping: Self.shown)
        var answer = Cell(cell: cell.json)
        if case .blob(let bytes, _) = cell {
            answer.image = DatabaseCell.image(bytes)?.rawValue
            answer.shown = bytes.count
        }
        return try InspectorAnswer.json(answer)
    }

    /// The bytes of a value, as a file or, where it is one, as a picture.
    func value(_ request: Request) async throws -> Response {
        let (bytes, isText): ([UInt8], Bool)
        switch try await cell(request, keeping: Self.valueLimit) {
        case .blob(let value, _): (bytes, isText) = (value, false)
        case .text(let value, _): (bytes, isText) = (value, true)
        case let other: (bytes, isText) = (Array(other.text.utf8), true)
        }
        if try request.query["as"] == "image" {
            guard let type = DatabaseCell.image(bytes) else { throw Problem(.notFound, "That is no picture.") }
            var response = Response(type: type, body: bytes)
            response.headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
            return response
        }
        return InspectorAnswer.attachment(isText ? "text/plain" : "application/octet-stream", named: "value", bytes)
    }

    /// The value that a request names: by the number of its row and its column, in a table or in what SQL gives.
    private func cell(_ request: Request, keeping limit: Int) async throws -> DatabaseCell {
        let items = try request.query
        guard let row = Int(items["row"] ?? ""), let column = Int(items["index"] ?? ""), row >= 0, column >= 0 else {
            throw Problem(.badRequest, "“row” and “index” say which value.")
        }
        let limits = DatabaseResult.Limits(rows: 1, cell: limit, bytes: .max)
        let (sql, number) = (items["sql"], items["rowid"].flatMap { Int64($0) })
        let selection = try sql == nil ? DatabaseSelection(items) : nil
        let file = try await file(request)
        return try await file.read(within: sql == nil ? Self.time : sqlTime) { database, rules in
            let cells: [DatabaseCell]?
            if let selection {
                let table = try DatabaseTable(selection.table, database)
                let query =
                    try number.map {
                        try DatabaseSelection(table: table.name).statement(table, count: 1, rowid: .exactly($0))
                    } ?? selection.statement(table, count: 1, offset: row)
                cells = try query.run(database, rules, limits).rows.first.map {
                    Array($0.dropFirst(table.rowid == nil ? 0 : 1))
                }
            } else {
                cells = try DatabaseResult.row(
                    row,
                    ofResult: Int(items["result"] ?? "") ?? 0,
                    sql ?? "",
                    database,
                    limits,
                    rules
                )
            }
            guard let cells, column < cells.count else { throw Problem(.notFound, "There is no such value any more.") }
            return cells[column]
        }
    }

    // MARK: Files

    /// Rows of a table, or what SQL gives, as a file.
    private func export(_ request: Request, _ budget: AnswerBudget) async throws -> Response {
        let items = try request.query
        guard let format = DatabaseExport.Format(rawValue: items["format"] ?? "csv") else {
            throw Problem(.badRequest, "“format” is csv or json.")
        }
        let isGuarded = items["exact"] != "true"
        let file = try await file(request)
        var response: Response
        if let sql = items["sql"] {
            response = try await budget.holding(Self.exportSize) {
                try await export(format, isGuarded, file, within: sqlTime) { database, rules in
                    try DatabaseResult.one(sql, database, Self.exportLimits, rules)
                }
            }
        } else {
            let selection = try DatabaseSelection(items)
            let table = try await file.read(within: Self.time) { database, _ in
                try DatabaseTable(selection.table, database)
            }
            let isPaged = selection.isWhole && table.rowid != nil
            response = try await budget.holding(isPaged ? Self.tableSize : Self.exportSize) {
                if isPaged { return try await export(format, isGuarded, file, table) }
                return try await export(format, isGuarded, file, within: sqlTime) { database, rules in
                    let query = try selection.statement(table, count: Int(Int32.max))
                    return try query.run(database, rules, Self.exportLimits).without(first: table.rowid == nil ? 0 : 1)
                }
            }
        }
        response.attach(as: "\(items["table"] ?? "result").\(format.rawValue)")
        return response
    }

    /// What is read at once, since nobody may wait for a slow viewer with a transaction open.
    private func export(
        _ format: DatabaseExport.Format,
        _ isGuarded: Bool,
        _ file: DatabaseFile,
        within limit: Duration,
        _ read: @escaping @Sendable (Database, DatabaseRules) throws -> DatabaseResult
    ) async throws -> Response {
        let result = try await file.read(within: limit) { database, rules in try read(database, rules) }
        if result.isCut {
            throw Problem(
                .contentTooLarge,
                "The result has more than 1,000,000 rows or 64 MiB: a whole table may have more."
            )
        }
        try Self.check(result.rows)
        return Response(type: format.type) { writer in
            var export = DatabaseExport(format, columns: result.columns, isGuarded: isGuarded)
            try await writer.write(export.beginning)
            for start in stride(from: 0, to: result.rows.count, by: 500) {
                try await export.write(Array(result.rows[start..<min(start + 500, result.rows.count)]), to: writer)
            }
            try await writer.write(export.end)
        }
    }

    /// A whole table, page by page in the order of the rows' numbers, each in a transaction of its own.
    private func export(
        _ format: DatabaseExport.Format,
        _ isGuarded: Bool,
        _ file: DatabaseFile,
        _ table: DatabaseTable
    ) async throws -> Response {
        @Sendable func read(behind number: Int64?) async throws -> DatabaseResult {
            let page = try await file.read(within: Self.time) { database, rules in
                let selection = DatabaseSelection(table: table.name)
                let behind = number.map { DatabaseSelection.RowID.behind($0) }
                let query = try selection.statement(table, count: Self.exportPage, rowid: behind)
                let limits = DatabaseResult.Limits(rows: Self.exportPage, cell: Self.exportLimits.cell, bytes: 8 << 20)
                return try query.run(database, rules, limits)
            }
            try Self.check(page.rows)
            return page
        }
        let first = try await read(behind: nil)
        return Response(type: format.type) { writer in
            var export = DatabaseExport(format, columns: Array(first.columns.dropFirst()), isGuarded: isGuarded)
            try await writer.write(export.beginning)
            var next: DatabaseResult? = first
            while let page = next {
                try await export.write(page.rows.map { Array($0.dropFirst()) }, to: writer)
                guard case .integer(let last)? = page.rows.last?.first else { break }
                next = page.isCut || page.rows.count == Self.exportPage ? try await read(behind: last) : nil
            }
            try await writer.write(export.end)
        }
    }

    private static func check(_ rows: [[DatabaseCell]]) throws(Problem) {
        for case .text(let bytes, let count) in rows.joined() where bytes.count < count { throw tooLong }
        for case .blob(let bytes, let count) in rows.joined() where bytes.count < count { throw tooLong }
    }

    private static var tooLong: Problem {
        Problem(.contentTooLarge, "A value has more than 16 MiB: it isn't exported, but can be downloaded by itself.")
    }
}
