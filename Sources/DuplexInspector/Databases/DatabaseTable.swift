// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import GRDB

/// What the schema says of a table or view.
struct DatabaseTable: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        var name: String
        var type: String
        var isRequired: Bool
        var standard: String?
        /// Its place in the primary key, from 1 on; 0 where it is none of that.
        var key: Int
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

    var json: JSONText {
        var members = JSONText.Members()
        members.add("name", name)
        members.add("kind", kind)
        members.add("sql", sql)
        members.add("rowid", rowid)
        let columns = columns.map { column in
            var members = JSONText.Members()
            members.add("name", column.name)
            members.add("type", column.type)
            members.add("isRequired", column.isRequired)
            members.add("default", column.standard)
            members.add("key", column.key)
            return JSONText.object(members.all)
        }
        members.add("columns", .array(columns))
        return .object(members.all)
    }
}

/// All that a database has.
enum DatabaseSchema {
    /// How many tables, indexes and others are listed.
    private static let limit = 2_000
    /// How many characters of the SQL of each.
    private static let sqlLimit = 16_384
    /// How long counting the rows of one table takes, and of all.
    private static let times = (one: Duration.milliseconds(100), all: Duration.seconds(1))

    /// Tables, views, indexes and triggers, with the counts of rows as far as there is time.
    static func json(_ database: Database, _ rules: DatabaseRules) throws -> JSONText {
        let shown = "substr(sql, 1, \(sqlLimit)) || iif(length(sql) > \(sqlLimit), '…', '')"
        let sql = "SELECT type, name, tbl_name, \(shown) FROM sqlite_schema ORDER BY type, name LIMIT \(limit + 1)"
        let rows = try Row.fetchAll(database, sql: sql)
        let end = ContinuousClock.now + times.all
        var objects: [JSONText] = []
        for row in rows.prefix(limit) {
            let (kind, name): (String, String) = (row[0] ?? "", row[1] ?? "")
            var members = JSONText.Members()
            members.add("kind", kind)
            members.add("name", name)
            members.add("table", row[2] as String?)
            members.add("sql", row[3] as String?)
            if kind == "table" || kind == "view", .now < end, let table = try? DatabaseTable(name, database) {
                members.add("count", table.count(database, rules, within: min(times.one, end - .now)))
            }
            objects.append(.object(members.all))
        }
        rules.end(within: times.all)
        var members = JSONText.Members()
        members.add("objects", .array(objects))
        members.add("isCut", rows.count > limit)
        members.add("countLimit", DatabaseTable.countLimit)
        for pragma in ["journal_mode", "encoding", "page_size", "page_count", "user_version", "application_id"] {
            members.add(pragma, try? String.fetchOne(database, sql: "PRAGMA \(pragma)"))
        }
        return .object(members.all)
    }
}
