// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import Foundation
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

@Suite struct DatabaseExportTests {
    private static let rows: [[DatabaseCell]] = [
        [.null, .integer(-5), .real(0.5), .text(Array("a,\"b\"\r\nc".utf8), count: 8), .blob([1, 255], count: 2)],
        [.text([], count: 0), .text(Array("=1+1".utf8), count: 4), .text(Array("@x".utf8), count: 2), .null, .null],
    ]

    private static func text(_ format: DatabaseExport.Format, isGuarded: Bool = true) -> String {
        var export = DatabaseExport(format, columns: ["a", "b", "b", "=d", "e"], isGuarded: isGuarded)
        return export.beginning + rows.map { export.text([$0]) }.joined() + export.end
    }

    @Test("CSV is that of RFC 4180; null is nothing, empty text is quotation marks, and formulas are texts")
    func csv() {
        #expect(
            Self.text(.csv) == "a,b,b:2,'=d,e\r\n,-5,0.5,\"a,\"\"b\"\"\r\nc\",0x01ff\r\n\"\",'=1+1,'@x,,\r\n"
        )
        #expect(Self.text(.csv, isGuarded: false).contains("\r\n\"\",=1+1,@x,,\r\n"))
    }

    @Test("No text that a spreadsheet would run begins with what makes it do so")
    func formulas() {
        for text in ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\u{FF1D}1", "\u{FF0B}1"] {
            var export = DatabaseExport(.csv, columns: ["a"])
            let line = export.text([[.text(Array(text.utf8), count: text.utf8.count)]])
            #expect(line.hasPrefix("'") || line.hasPrefix("\"'"), "\(line)")
        }
    }

    @Test("JSON is an array of objects whose members have names of their own")
    func json() throws {
        let value = try JSONSerialization.jsonObject(with: Data(Self.text(.json).utf8))
        let rows = try #require(value as? [[String: Any]])
        #expect(rows.count == 2 && rows[0].count == 5)
        #expect(rows[0]["b"] as? Int == -5 && rows[0]["b:2"] as? Double == 0.5 && rows[0]["a"] is NSNull)
        #expect((rows[0]["e"] as? [String: String]) == ["base64": "Af8="])
        var empty = DatabaseExport(.json, columns: ["a"])
        #expect(empty.beginning + empty.text([]) + empty.end == "[\n]\n")
    }

    @Test("Python's csv reads what was written")
    func python() async throws {
        try await withTestFolder(["rows.csv": Self.text(.csv)]) { root async throws in
            let script =
                "import csv, sys; print([row for row in csv.reader(open(sys.argv[1], newline=''))][1][3].encode())"
            let run = try await ProgramRun(["python3", "-c", script, root + "rows.csv"])
            #expect(run.text == "b'a,\"b\"\\r\\nc'\n")
        }
    }
}
