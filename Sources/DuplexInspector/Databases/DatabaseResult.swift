// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import GRDB

/// What a statement has given: its rows, as many as are wanted.
struct DatabaseResult: Sendable {
    /// How much is taken of what a statement gives.
    struct Limits: Sendable {
        var rows: Int
        /// Of a cell.
        var cell: Int
        /// Of all cells, about.
        var bytes: Int

        /// What is shown in a list.
        static func list(_ rows: Int) -> Limits { Limits(rows: rows, cell: 256, bytes: 4 << 20) }
    }

    var sql = ""
    var columns: [String] = []
    var rows: [[DatabaseCell]] = []
    /// Whether there are more rows.
    var isCut = false
    /// How many rows it has changed.
    var changes = 0
    var duration = Duration.zero

    /// Runs a statement to its end, or until there is as much as is wanted.
    init(_ statement: Statement, _ limits: Limits, arguments: StatementArguments = StatementArguments()) throws {
        let start = ContinuousClock.now
        sql = statement.sql
        columns = statement.columnNames
        var size = 0
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        while try cursor.next() != nil {
            if rows.count == limits.rows || size > limits.bytes {
                isCut = true
                break
            }
            let row = columns.indices.map { DatabaseCell(statement, $0, keeping: limits.cell) }
            size += row.reduce(0) { $0 + $1.size }
            rows.append(row)
        }
        duration = .now - start
    }

    /// Runs several statements, one after another.
    ///
    /// - Parameters:
    ///   - sql: the statements.
    ///   - database: the connection.
    ///   - limits: what is taken of each.
    ///   - rules: those of the connection. Default: none, of statements of our own.
    /// - Returns: what each has given, 20 at most.
    /// - Throws: `DatabaseError`; `Problem` for one that isn't run.
    static func all(
        _ sql: String,
        _ database: Database,
        _ limits: Limits,
        _ rules: DatabaseRules? = nil
    ) throws -> [DatabaseResult] {
        if sql.utf8.contains(0) { throw Problem(.badRequest, "SQL has no NUL in it.") }
        var results: [DatabaseResult] = []
        let statements = try database.allStatements(sql: sql)
        while let statement = try statements.next() {
            if results.count == 20 { throw Problem(.badRequest, "Those are more than 20 statements.") }
            rules?.bound(database)
            let before = database.totalChangesCount
            var result = try DatabaseResult(statement, limits)
            result.changes = database.totalChangesCount - before
            results.append(result)
        }
        if results.isEmpty { throw Problem(.badRequest, "There is no statement.") }
        return results
    }

    /// Runs one statement.
    static func one(
        _ sql: String,
        _ database: Database,
        _ limits: Limits,
        _ rules: DatabaseRules? = nil
    ) throws -> DatabaseResult {
        let results = try all(sql, database, limits, rules)
        guard results.count == 1, let result = results.first else {
            throw Problem(.badRequest, "Several statements have several results: ask for one.")
        }
        return result
    }

    /// A row of what one of several statements gives, each run as far as that.
    static func row(
        _ row: Int,
        ofResult number: Int,
        _ sql: String,
        _ database: Database,
        _ limits: Limits,
        _ rules: DatabaseRules? = nil
    ) throws -> [DatabaseCell]? {
        let statements = try database.allStatements(sql: sql)
        var index = 0
        while let statement = try statements.next() {
            defer { index += 1 }
            if index < number { continue }
            rules?.bound(database)
            let cursor = try Row.fetchCursor(statement)
            for _ in 0..<row { if try cursor.next() == nil { return nil } }
            guard try cursor.next() != nil else { return nil }
            return statement.columnNames.indices.map { DatabaseCell(statement, $0, keeping: limits.cell) }
        }
        return nil
    }

    /// Without the first columns.
    func without(first count: Int) -> DatabaseResult {
        var result = self
        result.columns = Array(columns.dropFirst(count))
        result.rows = rows.map { Array($0.dropFirst(count)) }
        return result
    }

    /// How SQLite would go about each of several statements.
    static func plans(_ sql: String, _ database: Database) throws -> [DatabaseResult] {
        if sql.utf8.contains(0) { throw Problem(.badRequest, "SQL has no NUL in it.") }
        var results: [DatabaseResult] = []
        let statements = try database.allStatements(sql: sql)
        while let statement = try statements.next(), results.count < 20 {
            let sql = statement.sql
            let isPlan = sql.prefix(7).lowercased() == "explain"
            let plan = try database.makeStatement(sql: isPlan ? sql : "EXPLAIN QUERY PLAN \(sql)")
            results.append(try DatabaseResult(plan, .list(1_000)))
        }
        return results
    }

    /// As the page gets it.
    struct JSON: Codable, Sendable {
        /// The first 1,000 characters.
        var sql: String
        var columns: [String]
        var rows: [[DatabaseCell.JSON?]]
        var isCut: Bool
        var changes: Int
        var seconds: Double
    }

    var json: JSON {
        JSON(
            sql: String(sql.prefix(1_000)),
            columns: columns,
            rows: rows.map { $0.map(\.json) },
            isCut: isCut,
            changes: changes,
            seconds: duration / .seconds(1)
        )
    }
}
