// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWire
import Foundation
import GRDB
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite struct DatabaseTableTests {
    @Test("A table is known by its columns, its key, and the name of its rows' numbers")
    func shape() throws {
        try DatabaseQueue().inDatabase { database throws in
            try database.execute(sql: DatabaseFixture.sql)
            let people = try DatabaseTable("people", database)
            #expect(people.columns.map(\.name) == ["id", "name", "age", "picture"])
            #expect(people.columns.map(\.type) == ["INTEGER", "TEXT", "REAL", "BLOB"])
            #expect(people.columns[0].key == 1 && people.columns[1].isRequired && people.columns[2].standard == "1")
            #expect(people.rowid == "rowid")
            #expect(try DatabaseTable("pairs", database).rowid == nil)
            // All of SQLite's names of the number are names of columns.
            #expect(try DatabaseTable("odd", database).rowid == nil)
            #expect(try DatabaseTable("adults", database).kind == "view")
            #expect(try DatabaseTable("sqlite_master", database).name == "sqlite_schema")
        }
    }

    @Test("What isn't a table is missed")
    func missing() async throws {
        for name in ["none", "people_name", "people; --", ""] {
            let problem = await DatabaseFixture.problem {
                try DatabaseQueue().inDatabase { database throws in
                    try database.execute(sql: DatabaseFixture.sql)
                    _ = try DatabaseTable(name, database)
                }
            }
            #expect(problem?.status == .notFound)
        }
    }

    @Test("Rows are counted up to a number, and not at all where that has no end")
    func counts() async throws {
        let sql = """
            CREATE TABLE many (a);
            INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100500) SELECT i FROM n;
            CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;
            """
        try await DatabaseFixture.run(sql) { file async throws in
            let counts = try await file.read(within: .limit(seconds: 20)) { database, rules in
                [
                    try DatabaseTable("many", database).count(database, rules, within: .limit(seconds: 20)),
                    try DatabaseTable("endless", database).count(database, rules, within: .milliseconds(20)),
                ]
            }
            #expect(counts == [100_001, nil])
            let schema = try await file.read(within: .limit(seconds: 20)) { try DatabaseSchema($0, $1) }
            #expect(schema.objects.map(\.name).sorted() == ["endless", "many"])
            #expect(schema.objects.first { $0.name == "endless" }?.count == nil && schema.encoding == "UTF-8")
        }
    }
}
