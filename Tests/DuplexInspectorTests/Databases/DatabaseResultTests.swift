// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import GRDB
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite struct DatabaseResultTests {
    private static let many =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT i FROM n"

    @Test("Rows are taken up to a number, and it is told that there are more")
    func rows() throws {
        try DatabaseQueue().inDatabase { database throws in
            let result = try DatabaseResult.one(Self.many, database, .list(10))
            #expect(result.rows.count == 10 && result.isCut && result.columns == ["i"])
            #expect(try DatabaseResult.one(Self.many, database, .list(1_000)).isCut == false)
        }
    }

    @Test("And up to a size, whatever their number")
    func bytes() throws {
        try DatabaseQueue().inDatabase { database throws in
            let limits = DatabaseResult.Limits(rows: 1_000, cell: 1_000, bytes: 10_000)
            let result = try DatabaseResult.one("SELECT randomblob(1000) FROM (\(Self.many))", database, limits)
            #expect(result.rows.count < 10 && result.isCut)
        }
    }

    @Test("Several statements have several results, with what each has changed")
    func several() throws {
        try DatabaseQueue().inDatabase { database throws in
            let sql = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); SELECT a FROM t;; -- no more"
            let results = try DatabaseResult.all(sql, database, .list(10))
            #expect(results.map(\.changes) == [0, 2, 0])
            #expect(results.last?.rows == [[.integer(1)], [.integer(2)]])
            let rows = try DatabaseResult.row(1, ofResult: 1, "SELECT 5; SELECT a FROM t", database, .list(1))
            #expect(rows == [.integer(2)])
            #expect(try DatabaseResult.row(2, ofResult: 1, "SELECT 5; SELECT a FROM t", database, .list(1)) == nil)
        }
    }

    @Test("What is empty, has a NUL, or is too many statements is refused")
    func refused() async throws {
        for sql in ["", " -- nothing", "SELECT 1\u{0}; DROP TABLE t", String(repeating: "SELECT 1;", count: 21)] {
            let problem = await DatabaseFixture.problem {
                try DatabaseQueue().inDatabase { _ = try DatabaseResult.all(sql, $0, .list(1)) }
            }
            #expect(problem?.status == .badRequest)
        }
    }

    @Test("A plan says how SQLite goes about each statement, and does nothing")
    func plans() throws {
        try DatabaseQueue().inDatabase { database throws in
            try database.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            let plans = try DatabaseResult.plans("SELECT * FROM t; DELETE FROM t", database)
            #expect(plans.count == 2 && plans[0].rows[0][3].text.contains("SCAN"))
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM t") == 1)
        }
    }
}
