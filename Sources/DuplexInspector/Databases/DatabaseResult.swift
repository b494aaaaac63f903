// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation
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
            try rules?.bound(database, statement)
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
            try rules?.bound(database, statement)
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

/// Rows as a file: CSV (RFC 4180) or JSON.
struct DatabaseExport: Sendable {
    enum Format: String, Sendable {
        case csv, json

        var type: MediaType { self == .csv ? "text/csv; charset=utf-8" : .json }
    }

    let format: Format
    /// Each once: members of an object need names of their own.
    private let names: [String]
    /// Whether texts that spreadsheets would take for formulas get an apostrophe in front.
    private let isGuarded: Bool
    private var isFirst = true

    /// - Parameters:
    ///   - format: the format.
    ///   - columns: the names of the columns.
    ///   - isGuarded: whether texts that spreadsheets would run as formulas get an apostrophe in front, in CSV. They aren't
    ///     what the database has then. Default: yes.
    init(_ format: Format, columns: [String], isGuarded: Bool = true) {
        self.format = format
        self.isGuarded = isGuarded
        var counts: [String: Int] = [:]
        names = columns.map { name in
            counts[name, default: 0] += 1
            return counts[name] == 1 ? name : "\(name):\(counts[name] ?? 0)"
        }
    }

    /// What stands in front of the rows.
    var beginning: String {
        format == .json ? "[" : names.map { Self.field($0, isGuarded) }.joined(separator: ",") + "\r\n"
    }

    /// What stands behind them.
    var end: String { format == .json ? "\n]\n" : "" }

    /// Some rows, behind those that were written before.
    mutating func text(_ rows: [[DatabaseCell]]) -> String {
        var text = ""
        for row in rows {
            if format == .csv {
                text += row.map { csv($0) }.joined(separator: ",") + "\r\n"
            } else {
                text += (isFirst ? "\n" : ",\n") + json(row).text
                isFirst = false
            }
        }
        return text
    }

    /// Writes rows, which become text beside the event loops.
    mutating func write(_ rows: [[DatabaseCell]], to writer: ResponseWriter) async throws {
        let (text, next) = try await BlockingThreads.files.run { [self] in
            var export = self
            return (export.text(rows), export)
        }
        self = next
        try await writer.write(text)
    }

    private func csv(_ cell: DatabaseCell) -> String {
        switch cell {
        case .null: ""
        case .integer, .real: cell.text
        case .blob: "0x" + cell.text
        case .text: Self.field(cell.text, isGuarded)
        }
    }

    /// A text in quotation marks, where it needs them; an empty one has them, since nothing at all stands for null.
    private static func field(_ text: String, _ isGuarded: Bool) -> String {
        let isFormula =
            isGuarded
            && text.unicodeScalars.first.map {
                "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains($0)
            } == true
        let text = isFormula ? "'" + text : text
        if !text.isEmpty, !text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    /// A row with its members in the order of the columns, which an encoder doesn't keep.
    private func json(_ row: [DatabaseCell]) -> JSONText {
        .object(zip(names, row).map { JSONText.Member(name: $0, value: Self.json($1)) })
    }

    private static func json(_ cell: DatabaseCell) -> JSONText {
        switch cell {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .number(value)
        case .text: .string(cell.text)
        case .blob(let bytes, _):
            .object([JSONText.Member(name: "base64", value: .string(Data(bytes).base64EncodedString()))])
        }
    }
}
