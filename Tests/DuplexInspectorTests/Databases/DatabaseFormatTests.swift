// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import GRDB
import Testing

@testable import DuplexInspector

@Suite("The formats of SQL")
struct DatabaseFormatTests {
    @Test("SQLite's formats are as they are, also in what a schema has computed")
    func formats() async throws {
        let schema = """
            CREATE TABLE t (a, b AS (printf('%.2f', a)));
            INSERT INTO t (a) VALUES (1.5);
            CREATE VIEW v AS SELECT format('%s|%5d|%-5s|%c|%.3c', 'ä', a * 10, b, 'xy', 'z') AS f FROM t
            """
        try await DatabaseFixture.run(schema) { file async throws in
            let texts = try await file.read(within: .limit(seconds: 20)) { database, _ in
                try ["f FROM v", "b FROM t", "printf() IS NULL", "printf(NULL, 1) IS NULL", "hex(printf('%s', x'41'))"]
                    .map {
                        try String.fetchOne(database, sql: "SELECT \($0)")
                    }
            }
            #expect(texts == ["ä|   15|1.50 |x|zzz", "1.50", "1", "1", "41"])
        }
    }
}
