// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import Foundation
import GRDB
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import DuplexInspector

@Suite struct DatabaseRoomTests {
    private static func run(
        allows: Set<InspectorChange> = [],
        _ sql: String = DatabaseFixture.sql,
        log: RecordedLog = RecordedLog(),
        _ body: (InspectorClient) async throws -> Void
    ) async throws {
        try await withTestFolder { root async throws in
            try DatabaseFixture.make(root + "main.db", sql)
            var options = InspectorOptions()
            options.databases["Main"] = root + "main.db"
            options.allowedChanges = allows
            try await InspectorClient.run(options, logger: log.logger, body)
        }
    }

    private static let main: KeyValuePairs = ["database": "Main"]

    @Test("The page is told what databases there are, and what one has")
    func schema() async throws {
        try await Self.run { inspector async throws in
            let list = try await inspector.get("databases/list").value(DatabaseRoom.List.self).databases
            #expect(list.map(\.id) == ["Main"] && list[0].isNamed && list[0].problem == nil && list[0].size ?? 0 > 0)
            let schema = try await inspector.get("databases/schema", Self.main).value(DatabaseSchema.self)
            #expect(Set(schema.objects.map(\.kind)) == ["table", "view", "index", "trigger"])
            #expect(schema.objects.first { $0.name == "people" }?.count == 3 && !schema.isCut)
            #expect(try await inspector.get("databases/schema", ["database": "None"]).status == .notFound)
        }
    }

    @Test("While too much is held by others, what is large is refused with a sentence, and nothing is changed")
    func budget() async throws {
        try await withTestFolder { root async throws in
            try DatabaseFixture.make(root + "main.db")
            let catalogue = DatabaseCatalogue(named: ["Main": root + "main.db"], folders: [:])
            let room = DatabaseRoom(catalogue: catalogue, sqlTime: .seconds(20), sqlRows: 10)
            let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            let shares = Mutex<[AnswerShare]>([])
            var server = WebServer(port: 0)
            server.group("/_inspect") { group in
                var routes = InspectorRoutes(group, allowed: [.sql], logger: logger)
                if let all = try? routes.budget.share(AnswerBudget.limit.bytes) { shares.withLock { $0 = [all] } }
                room.add(to: &routes)
                group = routes.group
            }
            try await server.test { client async throws in
                let paths = ["schema?", "rows?table=people&", "export?table=people&", "export?sql=SELECT%201&"]
                let json: HTTPFields = [.contentType: "application/json"]
                func ask() async throws -> [TestResponse] {
                    var all: [TestResponse] = []
                    for path in paths { all.append(try await client.get("/_inspect/databases/\(path)database=Main")) }
                    for (path, sql) in [("query", "SELECT 1"), ("execute", "DELETE FROM people WHERE id = 1")] {
                        let body = Array(#"{"database":"Main","sql":"\#(sql)"}"#.utf8)
                        all.append(try await client.post("/_inspect/databases/\(path)", headers: json, body: body))
                    }
                    return all
                }
                for answer in try await ask() {
                    #expect(answer.status == .serviceUnavailable && answer.text.contains("at a time"))
                }
                shares.withLock { $0 = [] }
                #expect(try await ask().map(\.status.code) == [200, 200, 200, 200, 200, 200])
                #expect(try await ask().last?.text.contains(#""changes":0"#) == true)
            }
        }
    }

    @Test("A copy of the whole can be downloaded")
    func download() async throws {
        try await Self.run { inspector async throws in
            let copy = try await inspector.get("databases/download", Self.main)
            #expect(copy.status == .ok && copy.text.hasPrefix("SQLite format 3"))
            #expect(copy.headers[.contentDisposition]?.contains("Main.sqlite") == true)
            #expect(try await inspector.get("databases/download", ["database": "None"]).status == .notFound)
        }
    }

    @Test("Rows, with their values short, and each as a whole")
    func rows() async throws {
        let sql =
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, printf('%.1000c', 'y')), (3, x'89504e470d0a1a0a01')"
        try await Self.run(sql) { inspector async throws in
            let query: KeyValuePairs = ["database": "Main", "table": "t", "count": "2"]
            let answer = try await inspector.get("databases/rows", query).value(DatabaseRoom.Rows.self)
            #expect(
                answer.result.rows.count == 2 && answer.result.isCut && answer.table.columns.map(\.name) == ["a", "b"]
            )
            let cell: KeyValuePairs = ["database": "Main", "table": "t", "row": "0", "index": "1", "rowid": "2"]
            let value = try await inspector.get("databases/cell", cell).value(DatabaseRoom.Cell.self)
            #expect(value.cell?.text.count == 1_000 && value.image == nil)
            let whole = try await inspector.get("databases/value", cell)
            #expect(whole.body.count == 1_000 && whole.headers[.contentDisposition]?.hasPrefix("attachment") == true)
            let picture: KeyValuePairs = ["database": "Main", "table": "t", "row": "2", "index": "1", "as": "image"]
            let image = try await inspector.get("databases/value", picture)
            #expect(image.headers[.contentType] == "image/png")
            #expect(image.headers[.contentSecurityPolicy] == "default-src 'none'; sandbox")
            #expect(image.headers[.xContentTypeOptions] == "nosniff")
            let text: KeyValuePairs = ["database": "Main", "table": "t", "row": "0", "index": "1", "as": "image"]
            #expect(try await inspector.get("databases/value", text).status == .notFound)
            let none: KeyValuePairs = ["database": "Main", "table": "t", "row": "9", "index": "1"]
            #expect(try await inspector.get("databases/cell", none).status == .notFound)
            let sql: KeyValuePairs = [
                "database": "Main", "sql": "SELECT 'one' UNION ALL SELECT 'two'", "row": "1", "index": "0",
            ]
            #expect(try await inspector.get("databases/value", sql).text == "two")
        }
    }

    @Test("SQL is run to read, and to write only where the app allows it, with a line in the log")
    func sql() async throws {
        let reading = ["database": "Main", "sql": "SELECT name FROM people; SELECT 1"]
        let writing = ["database": "Main", "sql": "DELETE FROM people WHERE id = 1; DELETE FROM pairs"]
        try await Self.run { inspector async throws in
            let read = try await inspector.post("databases/query", reading).value(DatabaseRoom.Results.self)
            #expect(read.results.map(\.columns) == [["name"], ["1"]])
            #expect(try await inspector.post("databases/query", writing).status == .forbidden)
            #expect(try await inspector.post("databases/execute", writing).status == .forbidden)
            let plan: [String: any Sendable] = ["database": "Main", "sql": "SELECT * FROM people", "plan": true]
            #expect(try await inspector.post("databases/query", plan).text.contains("SCAN people"))
        }
        let log = RecordedLog()
        try await Self.run(allows: [.sql], log: log) { inspector async throws in
            let answer = try await inspector.post("databases/execute", writing).value(DatabaseRoom.Results.self)
            #expect(answer.results.map(\.changes) == [1, 2])
            let entry = try await log.entry(of: "the inspector has changed something")
            #expect(
                entry.metadata["what"] == "Main, 3 rows: \(writing["sql"] ?? "")" && entry.metadata["change"] == "sql"
            )
        }
    }

    @Test("A table goes out as a file in pieces, whatever its length; so does what SQL gives")
    func export() async throws {
        let sql = """
            CREATE TABLE many (a, b);
            INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i, 'x' || i FROM n;
            CREATE TABLE pairs (a TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO pairs VALUES ('p');
            """
        try await Self.run(sql) { inspector async throws in
            let table: KeyValuePairs = ["database": "Main", "table": "many", "format": "csv"]
            let lines = try await inspector.get("databases/export", table).text.split(separator: "\r\n")
            #expect(lines.count == 5_001 && lines.first == "a,b" && lines.last == "5000,x5000")
            let sorted: KeyValuePairs = [
                "database": "Main", "table": "many", "format": "csv", "sort": "a", "descending": "true", "is": "less",
                "column": "a", "value": "3",
            ]
            #expect(try await inspector.get("databases/export", sorted).text == "a,b\r\n2,x2\r\n1,x1\r\n")
            let pairs: KeyValuePairs = ["database": "Main", "table": "pairs", "format": "json"]
            #expect(try await inspector.get("databases/export", pairs).text == "[\n{\"a\":\"p\"}\n]\n")
            let query: KeyValuePairs = ["database": "Main", "sql": "SELECT 1 AS one", "format": "json"]
            #expect(try await inspector.get("databases/export", query).text == "[\n{\"one\":1}\n]\n")
            let writing: KeyValuePairs = ["database": "Main", "sql": "DELETE FROM many"]
            #expect(try await inspector.get("databases/export", writing).status == .forbidden)
        }
    }

    @Test("Several viewers read at once")
    func viewers() async throws {
        try await Self.run { inspector async throws in
            try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await inspector.get("databases/rows", ["database": "Main", "table": "people"]).status
                    }
                }
                for try await status in group { #expect(status == .ok) }
            }
        }
    }
}
