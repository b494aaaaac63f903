// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import Foundation
import GRDB
import Synchronization
import Testing

@testable import DuplexInspector

@Suite struct DatabaseRulesTests {
    /// SQL that would write, open, load or set something.
    private static let refused = [
        "INSERT INTO people (name) VALUES ('x')", "UPDATE people SET name = 'x'", "DELETE FROM people",
        "REPLACE INTO people (id, name) VALUES (1, 'x')", "DROP TABLE people", "DROP VIEW adults",
        "DROP INDEX people_name",
        "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "CREATE VIEW x AS SELECT 1", "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE INDEX x ON people (age)", "CREATE TEMP TRIGGER x AFTER INSERT ON people BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE x USING fts5(a)", "ALTER TABLE people RENAME TO persons", "ANALYZE", "REINDEX", "VACUUM",
        "VACUUM INTO 'escape.db'", "ATTACH 'escape.db' AS x", "ATTACH ':memory:' AS x", "ATTACH '' AS x", "DETACH main",
        "SELECT load_extension('escape')", "SELECT writefile('escape', 'x')", "SELECT readfile('/etc/passwd')",
        "SELECT edit('x')", "SELECT fts3_tokenizer('simple')",
        "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode(OFF)", "PRAGMA query_only = 0", "PRAGMA user_version = 7",
        "PRAGMA writable_schema = 1", "PRAGMA writable_schema", "PRAGMA wal_checkpoint",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA mmap_size = 1000000", "PRAGMA trusted_schema = 1", "PRAGMA optimize",
        "PRAGMA temp_store_directory = '/tmp'", "PRAGMA data_store_directory = '/tmp'", "PRAGMA incremental_vacuum",
        "PRAGMA synchronous = OFF", "PRAGMA cache_spill = 0", "PRAGMA hard_heap_limit = 1", "PRAGMA busy_timeout = 1",
        "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SAVEPOINT x", "RELEASE x",
        "SELECT 1; ATTACH 'escape.db' AS x", "/* SELECT */ ATTACH 'escape.db' AS x", "EXPLAIN ATTACH 'escape.db' AS x",
        "WITH x AS (SELECT 1) DELETE FROM people", "SELECT * FROM pragma_journal_mode('OFF')",
        "SELECT * FROM pragma_user_version(9)",
    ]

    @Test("Nothing that writes is run on a connection that reads, and no file is made", arguments: refused)
    func reading(_ sql: String) async throws {
        try await DatabaseFixture.run(mode: "WAL") { file async throws in
            let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent().path
            let problem = await DatabaseFixture.problem {
                _ = try await file.read(within: .limit(seconds: 20)) { database, _ in
                    try DatabaseResult.all(sql, database, .list(10)).count
                }
            }
            #expect(problem != nil, "\(sql)")
            // Beside it SQLite's own: the log, and what its readers share.
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.allSatisfy { $0.hasPrefix("main.db") }, "\(names)")
            let people = try await file.read(within: .limit(seconds: 20)) { database, _ in
                try String.fetchAll(database, sql: "SELECT name FROM people ORDER BY id")
            }
            #expect(people == ["Ann", "Bob", "C_c%"])
        }
    }

    /// SQL that would take minutes, or memory without end, each with what ends it.
    private static let long: [(String, String)] = [
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            "longer than it may"
        ),
        (
            "WITH RECURSIVE n(i) AS (VALUES ('x') UNION ALL SELECT i || i FROM n) SELECT count(*) FROM n",
            "longer than 4"
        ),
        (
            "SELECT count(*) FROM people a, people b, people c, people d, people e, people f, people g, people h, people i,"
                + " people j, people k, people l, people m, people n, people o, people p", "longer than it may"
        ),
        ("SELECT printf('%.1000000000c', 'x')", "longer than 4"),
        ("SELECT 1 WHERE length(format('%d%.*c', 1, 1000000000, 'x')) > 1", "longer than 4"),
        ("SELECT zeroblob(100000000)", "longer than 4"), ("SELECT length(randomblob(1000000000))", "longer than 4"),
        ("SELECT length(hex(zeroblob(3000000)))", "longer than 4"),
        (
            "SELECT " + repeatElement("substr(zeroblob(4000000), 1, 4000000)", count: 200).joined(separator: ", "),
            "too long in a statement that computes so many"
        ),
        (
            "WITH v(x) AS (SELECT hex(zeroblob(1000000))) SELECT "
                + repeatElement("x || x", count: 200).joined(separator: ", ") + " FROM v",
            "too long in a statement that computes so many"
        ),
        (
            "SELECT length(max("
                + repeatElement("substr(zeroblob(4000000), 1, 4000000)", count: 90).joined(separator: ", ") + "))",
            "too long in a statement that computes so many"
        ),
        ("SELECT instr(zeroblob(4000000), zeroblob(2000000) || x'01')", "too long for functions that are slow"),
        ("SELECT trim(hex(zeroblob(1000000)), hex(randomblob(1000000)))", "too long for functions that are slow"),
        ("SELECT length(replace(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1', 'x'))", "too long for functions"),
        ("SELECT 'x' LIKE printf('%.*c', 1000, '%')", "pattern too complex"),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n "
                + "WHERE hex(zeroblob(10000)) || i LIKE printf('%%%.*c1', 400, '0')", "longer than it may"
        ),
    ]

    @Test("What would take minutes or memory without end is ended", .timeLimit(minutes: 2), arguments: long)
    func ends(_ sql: String, _ sentence: String) async throws {
        // Only what ends for its time is given little of it.
        let limit = sentence == "longer than it may" ? Duration.milliseconds(300) : .limit(seconds: 60)
        try await DatabaseFixture.run { file async throws in
            let problem = await DatabaseFixture.problem {
                _ = try await file.read(within: limit) { database, rules in
                    try DatabaseResult.all(sql, database, .list(10), rules).count
                }
            }
            #expect(problem?.detail.contains(sentence) == true, "\(sql): \(problem?.detail ?? "ran")")
        }
    }

    @Test("Where a function may take long, no further row is begun when time is up", arguments: [1, 2, 5])
    func rows(_ row: Int) async throws {
        let begun = Mutex(0)
        try await DatabaseFixture.run { file async throws in
            let problem = await DatabaseFixture.problem {
                _ = try await file.read(within: .limit(seconds: 60)) { database, rules in
                    let function = DatabaseFunction("takes_long", argumentCount: 1) { _ in
                        begun.withLock { $0 += 1 }
                        if begun.withLock({ $0 }) == row { rules.cancel() }
                        return 1
                    }
                    database.add(function: function)
                    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                    let sql = "\(rows) SELECT count(*) FROM n WHERE takes_long(i)"
                    return try DatabaseResult.all(sql, database, .list(10), rules).count
                }
            }
            #expect(problem?.detail.contains("longer than it may") == true)
        }
        #expect(begun.withLock { $0 } == row)
    }

    private static let slow = "instr(zeroblob(4000000), zeroblob(2000000) || x'01')"

    @Test(
        "What a schema has computed is held to short values as well, whoever reads it",
        arguments: [
            "CREATE VIEW computed AS SELECT \(slow) AS n",
            "CREATE TABLE computed (a); INSERT INTO computed VALUES (1); ALTER TABLE computed ADD COLUMN n AS (\(slow))",
        ]
    )
    func computed(_ schema: String) async throws {
        try await DatabaseFixture.run(schema) { file async throws in
            let reads: [@Sendable (Database, DatabaseRules) throws -> DatabaseResult] = [
                { database, rules in
                    let table = try DatabaseTable("computed", database)
                    let query = try DatabaseSelection(table: "computed").statement(table, count: 1)
                    return try query.run(database, rules, .list(1))
                },
                { try DatabaseResult.one("SELECT n FROM computed", $0, .list(1), $1) },
            ]
            for read in reads {
                let problem = await DatabaseFixture.problem {
                    _ = try await file.read(within: .limit(seconds: 20)) { try read($0, $1).rows.count }
                }
                #expect(problem?.detail.contains("too long for functions that are slow") == true, "\(schema)")
            }
            let all = try await file.read(within: .limit(seconds: 20)) { try DatabaseSchema($0, $1) }
            #expect(all.objects.contains { $0.name == "computed" })
        }
    }

    @Test("Columns that are computed by quick functions are as long as others")
    func quick() async throws {
        let schema = "CREATE TABLE t (a, n AS (upper(a))); INSERT INTO t (a) VALUES (hex(zeroblob(30000)))"
        try await DatabaseFixture.run(schema) { file async throws in
            let size = try await file.read(within: .limit(seconds: 20)) { database, rules in
                let query = try DatabaseSelection(table: "t").statement(DatabaseTable("t", database), count: 1)
                return try query.run(database, rules, .list(1)).rows[0].last?.size ?? 0
            }
            #expect(size > 0)
        }
    }

    @Test("While the app waits values are shorter still, and functions of any length are run on short ones")
    func brief() async throws {
        try await DatabaseFixture.run { file async throws in
            let slow = "UPDATE people SET name = trim(hex(zeroblob(10000)))"
            let problem = await DatabaseFixture.problem {
                _ = try await file.write(within: .milliseconds(25)) { database, rules in
                    try DatabaseResult.all(slow, database, .list(1), rules).count
                }
            }
            #expect(problem?.detail.contains("too long for functions that are slow") == true)
            for (time, sql) in [
                (
                    Duration.milliseconds(900),
                    "UPDATE people SET name = replace(trim(name), 'n', 'm') WHERE name LIKE 'A%'"
                ),
                (.seconds(20), slow), (.milliseconds(900), "UPDATE people SET picture = zeroblob(100000)"),
            ] {
                let changes = try await file.write(within: time) { database, rules in
                    try DatabaseResult.all(sql, database, .list(1), rules)[0].changes
                }
                #expect(changes > 0, "\(sql)")
            }
        }
    }

    @Test(
        "What reads is run",
        arguments: [
            "SELECT * FROM people", "SELECT count(*), upper(name) FROM people GROUP BY 2", "VALUES (1), (2)",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT * FROM n",
            "SELECT * FROM adults", "PRAGMA table_info(people)", "PRAGMA journal_mode", "PRAGMA user_version",
            "PRAGMA integrity_check", "SELECT * FROM pragma_table_info('people')", "PRAGMA compile_options",
            "EXPLAIN SELECT 1", "/* why */ EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN DELETE FROM people WHERE id = 1",
            "SELECT * FROM words WHERE words MATCH 'one'",
            "SELECT * FROM boxes WHERE low > 0", "SELECT * FROM sqlite_schema",
            "SELECT json_extract('{\"a\":1}', '$.a')",
        ]
    )
    func allowed(_ sql: String) async throws {
        let more = """
            CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one two');
            CREATE VIRTUAL TABLE boxes USING rtree(id, low, high); INSERT INTO boxes VALUES (1, 1, 2);
            """
        try await DatabaseFixture.run(DatabaseFixture.sql + more) { file async throws in
            let rows = try await file.read(within: .limit(seconds: 20)) { database, _ in
                try DatabaseResult.all(sql, database, .list(100)).first?.rows.count
            }
            #expect((rows ?? 0) > 0)
        }
    }

    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    @Test("What has no end is ended by its deadline, and said to be")
    func deadline() async throws {
        try await DatabaseFixture.run { file async throws in
            let problem = await DatabaseFixture.problem {
                _ = try await file.read(within: .milliseconds(30)) { database, _ in
                    try Int.fetchOne(database, sql: Self.endless)
                }
            }
            #expect(problem?.detail.contains("longer than it may") == true)
        }
    }

    @Test("So is what nobody waits for any more", .timeLimit(minutes: 1))
    func cancelled() async throws {
        try await DatabaseFixture.run { file async throws in
            let (starts, start) = AsyncStream<Void>.makeStream()
            let (ends, end) = AsyncStream<Bool>.makeStream()
            let task = Task {
                try await file.read(within: .seconds(3_600)) { database, _ in
                    start.yield()
                    do {
                        _ = try Int.fetchOne(database, sql: Self.endless)
                    } catch {
                        end.yield((error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT)
                        throw error
                    }
                }
            }
            for await _ in starts { break }
            task.cancel()
            for await wasInterrupted in ends {
                #expect(wasInterrupted)
                break
            }
        }
    }

    @Test("Expressions that are too deep for a stack are refused")
    func depth() async throws {
        try await DatabaseFixture.run { file async throws in
            let deep = String(repeating: "(", count: 900) + "1" + String(repeating: "+1)", count: 900)
            let problem = await DatabaseFixture.problem {
                _ = try await file.read(within: .limit(seconds: 20)) { database, _ in
                    try Int.fetchOne(database, sql: "SELECT \(deep)")
                }
            }
            #expect(problem?.detail.contains("SQLite says") == true)
        }
    }

    @Test("A connection that writes opens no other files, and leaves transactions alone")
    func writing() async throws {
        let refused = [
            "ATTACH 'escape.db' AS x", "VACUUM INTO 'escape.db'", "VACUUM", "SELECT load_extension('x')", "COMMIT",
            "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1",
            "CREATE VIRTUAL TABLE x USING csv(filename='a')",
        ]
        try await DatabaseFixture.run { file async throws in
            for sql in refused {
                let problem = await DatabaseFixture.problem {
                    _ = try await file.write(within: .limit(seconds: 20)) { database, _ in
                        try DatabaseResult.all("DELETE FROM people; \(sql)", database, .list(1)).count
                    }
                }
                #expect(problem != nil, "\(sql)")
            }
            let count = try await file.read(within: .limit(seconds: 20)) { database, _ in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM people")
            }
            #expect(count == 3)
        }
    }
}
