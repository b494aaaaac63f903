// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import GRDB
import Logging
import Testing

extension PeerTests {
    /// The inspector's page of databases in a browser.
    @Suite(.serialized) struct DatabasesPageTests {
        /// Names and values that would run, or be taken for something else, where they became markup, SQL or a formula.
        private static let hostile = """
            CREATE TABLE "<img src=x onerror=alert(1)>" ("<script>alert(2)</script>" TEXT, "a""; DROP TABLE people; --" TEXT);
            INSERT INTO "<img src=x onerror=alert(1)>" VALUES ('<svg onload=alert(3)>', char(27) || '[31mred' || char(8238) || 'fdp');
            CREATE VIEW "'; DROP TABLE people; --" AS SELECT '<b>bold</b>' AS "${alert(4)}";
            """

        private static let plain = """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age REAL, picture BLOB, note TEXT);
            CREATE INDEX people_name ON people (name);
            CREATE TABLE numbers (n INTEGER, big INTEGER);
            INSERT INTO numbers
                WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x LIMIT 250) SELECT i, 9007199254740993 FROM x;
            CREATE TABLE changing (name TEXT);
            """

        /// A picture of 2 × 2.
        private static let png =
            Base16.decode(
                "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a730000001649444154789c63fccfc0c0c0c0c4c0c0c0c0c0"
                    + "000006160103c9b1a4760000000049454e44ae426082"
            ) ?? []

        private static func make(_ root: String) throws {
            let queue = try DatabaseQueue(path: root + "main.db")
            defer { try? queue.close() }
            try queue.inDatabase { database in
                try database.execute(sql: plain + hostile)
                try fill(database)
                try database.execute(
                    sql:
                        "INSERT INTO people VALUES (1, 'Ann', 30, ?, ?), (2, 'Bob', 7.5, x'00ff10', 'short'), (3, 'Zoe', 50, NULL, NULL)",
                    arguments: [Data(png), String(repeating: "long text ", count: 100)]
                )
            }
        }

        /// Tables, columns and values whose texts are those by which others have been attacked.
        private static func fill(_ database: Database) throws {
            try database.execute(sql: "CREATE TABLE corpus (text)")
            for text in HostileTexts.all + HostileNames.texts {
                try database.execute(sql: "INSERT INTO corpus VALUES (?)", arguments: [text])
            }
            for (number, text) in HostileTexts.all.enumerated() {
                let (table, column) = ("x\(number) \(text)", text.isEmpty ? "none" : text)
                let names = [table, column].map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }
                try database.execute(sql: "CREATE TABLE \(names[0]) (\(names[1]) TEXT DEFAULT 'd')")
                try database.execute(sql: "INSERT INTO \(names[0]) VALUES (?)", arguments: [text])
            }
        }

        @Test("Chromium sorts, filters, pages, opens values, runs SQL, and reads its plan", .timeLimit(minutes: 4))
        func page() async throws {
            try await withTestFolder(["broken.db": String(repeating: "no database", count: 100)]) { root async throws in
                try Self.make(root)
                var options = InspectorOptions()
                options.databases = ["Main": root + "main.db", "Broken": root + "broken.db"]
                var server = WebServer(host: "127.0.0.1", port: 0)
                server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                let reader = server.inspector("/read", options: options)
                options.allowedChanges = [.sql]
                let writer = server.inspector("/write", options: options)
                try await server.withRunning { address async throws in
                    let addresses = [
                        "http://\(address)/read/?token=\(reader.token)",
                        "http://\(address)/write/?token=\(writer.token)",
                    ]
                    let script = Peer.path("Tests/PeerTests/Peers/inspector_databases.py")
                    let shots = ProcessInfo.processInfo.environment["SCREENSHOTS"].map { ["SCREENSHOTS": $0] } ?? [:]
                    let output = try await PeerProcess.run(
                        [Peer.python, script] + addresses,
                        environment: Peer.environment.merging(shots) { $1 }
                    )
                    let lines = output.split(separator: "\n")
                    #expect(lines.count == 14 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
                }
            }
        }
    }
}
#endif
