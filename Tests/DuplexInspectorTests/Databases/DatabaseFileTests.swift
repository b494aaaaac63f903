// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import GRDB
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite struct DatabaseFileTests {
    private static func names(_ file: DatabaseFile) async throws -> [String] {
        try await file.read(within: .limit(seconds: 20)) { database, _ in
            try String.fetchAll(database, sql: "SELECT name FROM people ORDER BY id")
        }
    }

    @Test("What is no database, encrypted, damaged or gone is said to be")
    func faults() async throws {
        try await withTestFolder(["text.db": String(repeating: "no database ", count: 100), "empty.db": ""]) {
            root async throws in
            #expect(
                await DatabaseFile(path: root + "text.db").fault() == "That is no SQLite database, or it is encrypted."
            )
            #expect(await DatabaseFile(path: root + "none.db").fault()?.hasPrefix("There is no such database") == true)
            #expect(await DatabaseFile(path: root + "empty.db").fault() == nil)
            try DatabaseFixture.make(root + "main.db")
            var bytes = try Data(contentsOf: URL(fileURLWithPath: root + "main.db"))
            bytes.replaceSubrange(100..<bytes.count, with: [UInt8](repeating: 0xA5, count: bytes.count - 100))
            try bytes.write(to: URL(fileURLWithPath: root + "damaged.db"))
            #expect(await DatabaseFile(path: root + "damaged.db").fault()?.hasPrefix("The database is damaged") == true)
            try FileManager.default.createDirectory(atPath: root + "folder.db", withIntermediateDirectories: true)
            #expect(await DatabaseFile(path: root + "folder.db").fault() != nil)
        }
    }

    @Test("A file that is put in its place is read instead, and one that is removed is missed")
    func replaced() async throws {
        try await DatabaseFixture.run { file async throws in
            #expect(try await Self.names(file) == ["Ann", "Bob", "C_c%"])
            try FileManager.default.removeItem(atPath: file.path)
            #expect(await DatabaseFixture.problem { _ = try await Self.names(file) }?.status == .notFound)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            try DatabaseFixture.make(
                file.path,
                "CREATE TABLE people (id INTEGER PRIMARY KEY, name); INSERT INTO people VALUES (1, 'Zoe')"
            )
            #expect(try await Self.names(file) == ["Zoe"])
        }
    }

    @Test("Changes are made as a whole or not at all", arguments: ["DELETE", "WAL"])
    func writing(_ mode: String) async throws {
        try await DatabaseFixture.run(mode: mode) { file async throws in
            let problem = await DatabaseFixture.problem {
                _ = try await file.write(within: .limit(seconds: 20)) { database, _ in
                    try DatabaseResult.all(
                        "DELETE FROM people; INSERT INTO none VALUES (1)",
                        database,
                        .list(1)
                    )
                }
            }
            #expect(problem?.detail.contains("no such table") == true)
            #expect(try await Self.names(file) == ["Ann", "Bob", "C_c%"])
            let changes = try await file.write(within: .limit(seconds: 20)) { database, _ in
                try DatabaseResult.all("DELETE FROM people WHERE id > 1", database, .list(1))[0].changes
            }
            #expect(changes == 2)
            #expect(try await Self.names(file) == ["Ann"])
        }
    }

    @Test("A change that has begun goes on to its end, and is told, where nobody waits for it any more")
    func abandoned() async throws {
        try await DatabaseFixture.run { file async throws in
            let (starts, start) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            let change = Task {
                try await file.write(within: .limit(seconds: 20)) { database, _ in
                    start.yield()
                    gate.wait()
                    return try DatabaseResult.all("DELETE FROM people WHERE id > 1", database, .list(1))[0].changes
                }
            }
            for await _ in starts { break }
            change.cancel()
            gate.signal()
            #expect(try await change.value == 2)
            #expect(try await Self.names(file) == ["Ann"])
        }
    }

    @Test("Closing a database moves nothing out of its log: that would take as long as the log is")
    func log() async throws {
        try await DatabaseFixture.run(mode: "WAL") { file async throws in
            _ = try await file.write(within: .limit(seconds: 20)) { database, _ in
                try DatabaseResult.all("UPDATE people SET age = 1", database, .list(1)).count
            }
            let log = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")
            #expect((log[.size] as? Int ?? 0) > 0)
        }
    }

    @Test("One that holds the database for too long is taken back")
    func holding() async throws {
        try await DatabaseFixture.run(mode: "WAL") { file async throws in
            let endless = """
                INSERT INTO people (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n
                """
            let problem = await DatabaseFixture.problem {
                _ = try await file.write(within: .milliseconds(25)) { database, _ in
                    try DatabaseResult.all(endless, database, .list(1)).count
                }
            }
            #expect(problem?.detail.contains("longer than it may") == true)
            #expect(try await Self.names(file) == ["Ann", "Bob", "C_c%"])
        }
    }

    @Test("A copy is the whole of one moment, in one file that goes behind it", arguments: ["DELETE", "WAL"])
    func copy(_ mode: String) async throws {
        try await DatabaseFixture.run(mode: mode) { file async throws in
            // The app has it open, and some of it is in the log only.
            let app = try DatabaseQueue(path: file.path)
            try await app.write { database in
                try database.execute(sql: "CREATE TABLE large (n, v)")
                for number in 0..<200 {
                    try database.execute(sql: "INSERT INTO large VALUES (?, randomblob(20000))", arguments: [number])
                }
            }
            let copy = try await file.copy()
            let (names, count, whole) = try await DatabaseFile(path: copy.path).read(within: .limit(seconds: 20)) {
                database,
                _ in
                (
                    try String.fetchAll(database, sql: "SELECT name FROM people ORDER BY id"),
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM large WHERE length(v) = 20000"),
                    try String.fetchOne(database, sql: "PRAGMA integrity_check")
                )
            }
            #expect(names == ["Ann", "Bob", "C_c%"] && count == 200 && whole == "ok")
            let problem = await DatabaseFixture.problem { _ = try await file.copy(upTo: .mebibytes(1)) }
            #expect(problem?.status == .contentTooLarge)
            try app.close()
        }
    }

    @Test(
        "A process that writes doesn't wait while copies are made",
        .timeLimit(minutes: 2),
        arguments: ["DELETE", "WAL"]
    )
    func unblockedByCopies(_ mode: String) async throws {
        try await DatabaseFixture.run(mode: mode) { file async throws in
            let queue = try DatabaseQueue(path: file.path)
            try await queue.write { database in
                try database.execute(sql: "CREATE TABLE large (v)")
                for _ in 0..<400 { try database.execute(sql: "INSERT INTO large VALUES (randomblob(100000))") }
            }
            try queue.close()
            let copying = Task {
                var count = 0
                while !Task.isCancelled {
                    _ = try await file.copy()
                    count += 1
                }
                return count
            }
            // Without WAL one that copies keeps the lock where the machine stands still; what blocks does so each time.
            var waits: [Int] = []
            repeat {
                let run = try await ProgramRun(["python3", "-c", Self.writer, file.path, "200", "all"])
                waits.append(try Self.waits(run))
            } while waits.count < 5 && waits.last != 0
            #expect(waits.last == 0, "\(waits)")
            _ = try await file.copy()
            copying.cancel()
            _ = try? await copying.value
        }
    }

    /// A process that writes, waits for 50 ms at most each time, and counts how often that wasn't enough.
    private static let writer = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1], timeout=0.05, isolation_level=None)
        busy = 0
        for number in range(int(sys.argv[2])):
            try:
                database.execute("INSERT INTO people (name) VALUES (?)", (f"writer {number}",))
            except sqlite3.OperationalError as error:
                busy += 1
                if "locked" not in str(error): raise
                if sys.argv[3] == "one": break
        print(busy)
        """

    /// What the process has counted.
    private static func waits(_ run: ProgramRun) throws -> Int {
        #expect(run.status == 0, "\(run.text)")
        return try #require(Int(run.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(run.text)")
    }

    /// How often another process had to wait for more than 50 ms, while somebody reads without end.
    private static func busy(_ file: DatabaseFile, _ count: Int, upTo limit: String) async throws -> Int {
        let (starts, start) = AsyncStream<Void>.makeStream()
        let reader = Task {
            try await file.read(within: .seconds(3_600)) { database, _ in
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, name FROM n CROSS JOIN people
                        """
                )
                _ = try rows.next()
                start.yield()
                while try rows.next() != nil {}
            }
        }
        for await _ in starts { break }
        let run = try await ProgramRun(["python3", "-c", writer, file.path, "\(count)", limit])
        reader.cancel()
        _ = try? await reader.value
        return try waits(run)
    }

    @Test("A process that writes to a database in WAL mode never waits for one that reads", .timeLimit(minutes: 2))
    func unblocked() async throws {
        try await DatabaseFixture.run(mode: "WAL") { file async throws in
            #expect(try await Self.busy(file, 300, upTo: "all") == 0)
        }
    }

    @Test("Where it isn't in WAL mode, the same count shows that it does wait", .timeLimit(minutes: 2))
    func blocked() async throws {
        try await DatabaseFixture.run { file async throws in
            #expect(try await Self.busy(file, 300, upTo: "one") == 1)
        }
    }

    @Test("Nor does it wait for all that the page asks for, its changes among it", .timeLimit(minutes: 2))
    func unblockedByPage() async throws {
        try await withTestFolder { root async throws in
            try DatabaseFixture.make(root + "main.db", mode: "WAL")
            var options = InspectorOptions()
            options.databases["Main"] = root + "main.db"
            options.allowedChanges = [.sql]
            try await InspectorClient.run(options) { inspector async throws in
                let rounds = 4
                // What blocks would do so each time.
                var waits: [Int] = []
                repeat {
                    async let run = ProgramRun(["python3", "-c", Self.writer, root + "main.db", "400", "all"])
                    for _ in 0..<rounds { try await Self.askAll(inspector) }
                    waits.append(try Self.waits(try await run))
                } while waits.count < 3 && waits.last ?? 0 >= rounds
                #expect(waits.last ?? 0 < rounds, "\(waits)")
            }
        }
    }

    /// Asks for all that the page asks for, and changes something.
    private static func askAll(_ inspector: InspectorClient) async throws {
        let queries: [(String, KeyValuePairs<String, String>)] = [
            ("list", [:]), ("schema", ["database": "Main"]),
            ("rows", ["database": "Main", "table": "people"]), ("download", ["database": "Main"]),
            ("export", ["database": "Main", "table": "people", "sort": "name"]),
        ]
        for (path, query) in queries {
            #expect(try await inspector.get("databases/\(path)", query).status == .ok)
        }
        let wish = ["database": "Main", "sql": "UPDATE people SET age = age + 1 WHERE id < 4"]
        var status: HTTPResponse.Status
        // Refused where the machine held it up for longer than the app may be, or where the writer was quicker.
        repeat {
            status = try await inspector.post("databases/execute", wish).status
        } while status == .unprocessableContent || status == .serviceUnavailable
        #expect(status == .ok)
    }
}
