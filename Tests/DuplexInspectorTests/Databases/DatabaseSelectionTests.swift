// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWire
import GRDB
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite struct DatabaseSelectionTests {
    /// They outlive each connection.
    private static let rules = DatabaseRules(.reading)

    /// The first column of what a selection gives.
    private static func names(
        _ database: Database,
        _ table: String = "people",
        count: Int = 100,
        offset: Int = 0,
        rowid: DatabaseSelection.RowID? = nil,
        _ change: (inout DatabaseSelection) -> Void = { _ in }
    ) throws -> [String] {
        var selection = DatabaseSelection(table: table)
        change(&selection)
        let shape = try DatabaseTable(table, database)
        let query = try selection.statement(shape, count: count, offset: offset, rowid: rowid)
        let index = shape.rowid == nil ? 0 : 2
        return try query.run(database, rules, .list(100)).rows.map { $0[index].text }
    }

    private static func withDatabase(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { database throws in
            try database.execute(sql: DatabaseFixture.sql)
            try body(database)
        }
    }

    @Test("Rows come in an order, in pages, and by their numbers")
    func pages() throws {
        try Self.withDatabase { database throws in
            #expect(try Self.names(database) == ["Ann", "Bob", "C_c%"])
            #expect(try Self.names(database) { ($0.sort, $0.isDescending) = ("name", true) } == ["C_c%", "Bob", "Ann"])
            #expect(try Self.names(database) { $0.sort = "age" } == ["Bob", "Ann", "C_c%"])
            #expect(try Self.names(database, count: 1, offset: 1) == ["Bob"])
            #expect(try Self.names(database, rowid: .behind(1)) == ["Bob", "C_c%"])
            #expect(try Self.names(database, rowid: .exactly(3)) == ["C_c%"])
            #expect(try Self.names(database, "pairs") == ["a", "c"])
        }
    }

    @Test(
        "A filter lets through what it says",
        arguments: [
            (DatabaseSelection.Comparison.contains, "name", "N", ["Ann"]), (.contains, "name", "%", ["C_c%"]),
            (.contains, "name", "_", ["C_c%"]), (.contains, nil, "30", ["Ann"]), (.equals, "age", "7.5", ["Bob"]),
            (.equals, "name", "Bob", ["Bob"]), (.differs, "name", "Bob", ["Ann", "C_c%"]),
            (.less, "age", "10", ["Bob"]),
            (.greater, "age", "7.5", ["Ann", "C_c%"]), (.null, "picture", "", ["Bob"]),
            (.filled, "picture", "", ["Ann", "C_c%"]),
            (.equals, "name", "' OR 1=1 --", []), (.contains, nil, "'; DROP TABLE people; --", []),
        ] as [(DatabaseSelection.Comparison, String?, String, [String])]
    )
    func filters(
        _ comparison: DatabaseSelection.Comparison,
        _ column: String?,
        _ value: String,
        _ names: [String]
    ) throws {
        try Self.withDatabase { database throws in
            let found = try Self.names(database) { ($0.comparison, $0.column, $0.value) = (comparison, column, value) }
            #expect(found == names)
        }
    }

    @Test("Columns that aren't there can't be sorted by, nor looked in")
    func unknown() async throws {
        for name in ["none", "name; DROP TABLE people", "name\" DESC --", "1", "", "(SELECT 1)"] {
            let problem = await DatabaseFixture.problem {
                try Self.withDatabase { database in _ = try Self.names(database) { $0.sort = name } }
            }
            #expect(problem?.status == .badRequest)
        }
    }

    @Test("Names that try to be SQL are names, of tables and of columns")
    func hostile() throws {
        let all = HostileNames.texts.filter {
            !$0.isEmpty && !$0.contains("\u{0}") && !$0.lowercased().hasPrefix("sqlite_")
        }
        let others = [
            "a\"b", "\"\"", "a]b", "a`b", "'", "t; DROP TABLE people", "select", "table", "a\"; DELETE FROM people; --",
            "?1", ":a", "@b",
        ]
        try Self.withDatabase { database throws in
            for name in HostileTexts.all + HostileNames.share(0, of: 4, all) + others where name.utf8.count < 1_000 {
                let quoted = DatabaseTable.quoted(name)
                try database.execute(sql: "CREATE TABLE \(quoted) (\(quoted) TEXT, other TEXT)")
                try database.execute(sql: "INSERT INTO \(quoted) VALUES (?, 'x')", arguments: [name])
                let found = try Self.names(database, name) { selection in
                    (selection.sort, selection.comparison, selection.column) = (name, .equals, name)
                    selection.value = name
                }
                #expect(found.count == 1, "\(name.debugDescription)")
                try database.execute(sql: "DROP TABLE \(quoted)")
            }
            #expect(try Self.names(database) == ["Ann", "Bob", "C_c%"])
        }
    }

    @Test("What a request asks for is read, and refused where it says nothing")
    func requests() async throws {
        #expect(DatabaseSelection.escaped(#"50%_\"#) == #"50\%\_\\"#)
        let problem = await DatabaseFixture.problem { _ = try DatabaseSelection(#require(QueryItems("sort=a"))) }
        #expect(problem?.status == .badRequest)
        let other = await DatabaseFixture.problem { _ = try DatabaseSelection(#require(QueryItems("table=a&is=like"))) }
        #expect(other?.status == .badRequest)
    }
}
