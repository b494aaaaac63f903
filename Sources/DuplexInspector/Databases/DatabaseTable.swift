// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import GRDB

/// What the schema says of a table or view; encoded as the page gets it.
struct DatabaseTable: Sendable, Equatable, Codable {
    struct Column: Sendable, Equatable, Codable {
        var name: String
        var type: String
        var isRequired: Bool
        var standard: String?
        /// Its place in the primary key, from 1 on; 0 where it is none of that.
        var key: Int

        private enum CodingKeys: String, CodingKey {
            case name, type, isRequired, key
            case standard = "default"
        }
    }

    /// How many rows are counted.
    static let countLimit = 100_000

    let name: String
    /// `table` or `view`.
    let kind: String
    let sql: String?
    var columns: [Column] = []
    /// The name by which rows have a number; `nil` where they have none.
    var rowid: String?

    /// Looks a table or view up.
    ///
    /// - Parameters:
    ///   - name: its name, as the schema has it.
    ///   - database: the connection.
    /// - Throws: `Problem` with 404 where there is none; `DatabaseError`.
    init(_ name: String, _ database: Database) throws {
        let sql = "SELECT type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?"
        if name.lowercased() == "sqlite_schema" || name.lowercased() == "sqlite_master" {
            (self.name, kind, self.sql) = ("sqlite_schema", "table", nil)
        } else {
            guard let row = try Row.fetchOne(database, sql: sql, arguments: [name]) else {
                throw Problem(.notFound, "There is no such table.")
            }
            (self.name, kind, self.sql) = (name, row[0], row[1])
        }
        let questions = "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1"
        columns = try Row.fetchAll(database, sql: questions, arguments: [self.name]).map { row in
            Column(
                name: row[0] ?? "",
                type: row[1] ?? "",
                isRequired: row[2] ?? false,
                standard: row[3],
                key: row[4] ?? 0
            )
        }
        if kind == "table" { rowid = numberName(database) }
    }

    /// The one of SQLite's names of that number which no column has (<https://sqlite.org/rowidtable.html>).
    private func numberName(_ database: Database) -> String? {
        let taken = Set(columns.map { $0.name.lowercased() })
        guard let name = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }) else { return nil }
        let sql = "SELECT \(Self.quoted(name)) FROM main.\(Self.quoted(self.name))"
        return (try? database.makeStatement(sql: sql)) == nil ? nil : name
    }

    /// A name as an identifier in SQL; GRDB's own leaves quotation marks in names as they are.
    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// A column of that name, quoted.
    ///
    /// - Parameter name: as the schema has it.
    /// - Returns: the identifier.
    /// - Throws: `Problem` where there is none.
    func column(_ name: String) throws(Problem) -> String {
        guard columns.contains(where: { $0.name == name }) else {
            throw Problem(.badRequest, "The table has no such column.")
        }
        return Self.quoted(name)
    }

    /// How many rows it has, up to ``countLimit`` and one more; `nil` where that takes too long.
    func count(_ database: Database, _ rules: DatabaseRules, within limit: Duration) -> Int? {
        rules.end(within: limit)
        let rows = "SELECT 1 FROM main.\(Self.quoted(name)) LIMIT \(Self.countLimit + 1)"
        guard let statement = try? rules.statement("SELECT count(*) FROM (\(rows))", database) else { return nil }
        return try? Int.fetchOne(statement)
    }
}

/// All that a database has, as the page gets it.
struct DatabaseSchema: Codable, Sendable {
    /// A table, view, index or trigger.
    struct Object: Codable, Sendable {
        var kind: String
        var name: String
        var table: String?
        var sql: String?
        /// How many rows there are; left out if it isn't known.
        var count: Int?
    }

    var objects: [Object]
    /// Whether there are more objects.
    var isCut: Bool
    var countLimit = DatabaseTable.countLimit
    var journalMode: String?
    var encoding: String?
    var pageSize: String?
    var pageCount: String?
    var userVersion: String?
    var applicationID: String?

    private enum CodingKeys: String, CodingKey {
        case objects, isCut, countLimit, encoding
        case journalMode = "journal_mode"
        case pageSize = "page_size"
        case pageCount = "page_count"
        case userVersion = "user_version"
        case applicationID = "application_id"
    }

    /// How many tables, indexes and others are listed.
    private static let limit = 2_000
    /// How many characters of the SQL of each.
    private static let sqlLimit = 16_384
    /// How long counting the rows of one table takes, and of all.
    private static let times = (one: Duration.milliseconds(100), all: Duration.seconds(1))

    /// Tables, views, indexes and triggers, with the counts of rows as far as there is time.
    init(_ database: Database, _ rules: DatabaseRules) throws {
        let shown = "substr(sql, 1, \(Self.sqlLimit)) || iif(length(sql) > \(Self.sqlLimit), '…', '')"
        let sql = "SELECT type, name, tbl_name, \(shown) FROM sqlite_schema ORDER BY type, name LIMIT \(Self.limit + 1)"
        let rows = try Row.fetchAll(database, sql: sql)
        let end = ContinuousClock.now + Self.times.all
        objects = rows.prefix(Self.limit).map { row in
            var object = Object(kind: row[0] ?? "", name: row[1] ?? "", table: row[2], sql: row[3])
            let hasRows = object.kind == "table" || object.kind == "view"
            if hasRows, .now < end, let table = try? DatabaseTable(object.name, database) {
                object.count = table.count(database, rules, within: min(Self.times.one, end - .now))
            }
            return object
        }
        isCut = rows.count > Self.limit
        rules.end(within: Self.times.all)
        func pragma(_ name: String) -> String? { try? String.fetchOne(database, sql: "PRAGMA \(name)") }
        journalMode = pragma("journal_mode")
        encoding = pragma("encoding")
        pageSize = pragma("page_size")
        pageCount = pragma("page_count")
        userVersion = pragma("user_version")
        applicationID = pragma("application_id")
    }
}
