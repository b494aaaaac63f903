// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import GRDB

/// Which rows of a table are shown, and in what order.
///
/// Names are looked up in the schema, and quoted; what is looked for is bound, and never a part of the SQL.
struct DatabaseSelection: Sendable {
    /// How a column is compared.
    enum Comparison: String, Sendable, CaseIterable {
        case contains, equals, differs, less, greater, null, filled
    }

    var table: String
    var sort: String?
    var isDescending = false
    /// The column that is compared; `nil` for any.
    var column: String?
    var comparison: Comparison?
    var value = ""

    /// Reads what a request asks for.
    init(_ items: QueryItems) throws {
        guard let table = items["table"] else { throw Problem(.badRequest, "“table” says whose rows.") }
        self.table = table
        sort = items["sort"]
        isDescending = items["descending"] == "true"
        column = items["column"]
        value = items["value"] ?? ""
        guard let text = items["is"] else { return }
        guard let comparison = Comparison(rawValue: text) else {
            throw Problem(.badRequest, "“is” is one of \(Comparison.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        self.comparison = comparison
    }

    init(table: String) { self.table = table }

    /// Whether it is the whole table, in whatever order.
    var isWhole: Bool { sort == nil && comparison == nil }

    /// The SQL and what is bound in it.
    ///
    /// - Parameters:
    ///   - shape: what the schema says of the table.
    ///   - count: how many rows.
    ///   - offset: behind how many others.
    ///   - rowid: of these, only that one, or only those behind it.
    /// - Returns: both.
    /// - Throws: `Problem` for a column that isn't there.
    func statement(_ shape: DatabaseTable, count: Int, offset: Int = 0, rowid: RowID? = nil) throws -> Query {
        var query = Query(sql: "SELECT ")
        if let key = shape.rowid { query.sql += "\(DatabaseTable.quoted(key)), " }
        query.sql += "* FROM main.\(DatabaseTable.quoted(shape.name))"
        let conditions = try [condition(shape, &query.arguments), rowid?.condition(shape, &query.arguments)]
            .compactMap(\.self)
        if !conditions.isEmpty { query.sql += " WHERE " + conditions.joined(separator: " AND ") }
        var order: [String] = []
        if let sort { order.append(try shape.column(sort) + (isDescending ? " DESC" : "")) }
        if let key = shape.rowid { order.append(DatabaseTable.quoted(key)) }
        if !order.isEmpty { query.sql += " ORDER BY " + order.joined(separator: ", ") }
        query.sql += " LIMIT ? OFFSET ?"
        query.arguments += [count, offset]
        return query
    }

    struct Query: Sendable {
        var sql: String
        var arguments = StatementArguments()

        func run(
            _ database: Database,
            _ rules: DatabaseRules,
            _ limits: DatabaseResult.Limits
        ) throws -> DatabaseResult {
            try DatabaseResult(try rules.statement(sql, database), limits, arguments: arguments)
        }
    }

    /// A row by its number, or those behind it.
    enum RowID: Sendable {
        case exactly(Int64)
        case behind(Int64)

        func condition(_ shape: DatabaseTable, _ arguments: inout StatementArguments) throws -> String {
            guard let key = shape.rowid else { throw Problem(.badRequest, "The rows of this table have no numbers.") }
            switch self {
            case .exactly(let number):
                arguments += [number]
                return "\(DatabaseTable.quoted(key)) = ?"
            case .behind(let number):
                arguments += [number]
                return "\(DatabaseTable.quoted(key)) > ?"
            }
        }
    }

    // MARK: Conditions

    private func condition(_ shape: DatabaseTable, _ arguments: inout StatementArguments) throws -> String? {
        guard let comparison else { return nil }
        let columns = try column.map { [try shape.column($0)] } ?? shape.columns.map { DatabaseTable.quoted($0.name) }
        // As many as SQLite's depth of an expression allows.
        if columns.count > 150 { throw Problem(.badRequest, "The table has too many columns to look in all.") }
        return "(" + columns.map { condition(comparison, $0, &arguments) }.joined(separator: " OR ") + ")"
    }

    private func condition(_ comparison: Comparison, _ name: String, _ arguments: inout StatementArguments) -> String {
        switch comparison {
        case .null: return "\(name) IS NULL"
        case .filled: return "\(name) IS NOT NULL"
        case .contains:
            arguments += ["%\(Self.escaped(value))%"]
            return #"CAST(\#(name) AS TEXT) LIKE ? ESCAPE '\'"#
        case .equals:
            arguments += [value, value]
            return "(\(name) = ? OR CAST(\(name) AS TEXT) = ?)"
        case .differs:
            arguments += [value]
            return "CAST(\(name) AS TEXT) IS NOT ?"
        case .less, .greater:
            arguments += [Self.number(value)]
            return "\(name) \(comparison == .less ? "<" : ">") ?"
        }
    }

    /// Text in which nothing stands for anything else in a pattern of LIKE.
    static func escaped(_ text: String) -> String {
        String(text.flatMap { "%_\\".contains($0) ? ["\\", $0] : [$0] })
    }

    private static func number(_ text: String) -> DatabaseValue {
        Int64(text)?.databaseValue ?? Double(text)?.databaseValue ?? text.databaseValue
    }
}
