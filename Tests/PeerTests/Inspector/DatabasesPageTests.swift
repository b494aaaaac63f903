// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexTestProcesses
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

        private static func make(_ root: String) throws {
            let queue = try DatabaseQueue(path: root + "main.db")
            defer { try? queue.close() }
            let png = try Data(contentsOf: URL(fileURLWithPath: Peer.path("Tests/PeerTests/Peers/pixel.png")))
            try queue.inDatabase { database in
                try database.execute(sql: plain + hostile)
                try database.execute(
                    sql:
                        "INSERT INTO people VALUES (1, 'Ann', 30, ?, ?), (2, 'Bob', 7.5, x'00ff10', 'short'), (3, 'Zoe', 50, NULL, NULL)",
                    arguments: [png, String(repeating: "long text ", count: 100)]
                )
            }
        }

        @Test("Chromium sorts, filters, pages, opens values, runs SQL, and reads its plan", .timeLimit(.minutes(4)))
        func page() async throws {
            try await withTestFolder(["broken.db": String(repeating: "no database", count: 100)]) { root async throws in
                try Self.make(root)
                var options = InspectorOptions()
                options.databases = ["Main": root + "main.db", "Broken": root + "broken.db"]
                var server = WebServer(host: "127.0.0.1", port: 0)
                server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                let reader = server.inspector("/read", options)
                options.allows = [.sql]
                let writer = server.inspector("/write", options)
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
                    #expect(lines.count == 12 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
                }
            }
        }
    }
}
#endif
