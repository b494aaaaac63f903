// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexSharing
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import GRDB
import Logging
import Testing

extension PeerTests {
    /// More than a thousand hostile texts in each field of each of the inspector's pages.
    @Suite(.serialized) struct HostilePageTests {
        private static let texts = HostileTexts.many.filter { !$0.isEmpty }

        @Test("A thousand hostile texts are texts in every field of every page, and none runs", .timeLimit(minutes: 4))
        func pages() async throws {
            #expect(Self.texts.count >= 1_000 && Set(Self.texts).count == Self.texts.count)
            let list = String(decoding: try JSONEncoder().encode(Self.texts), as: UTF8.self)
            try await withTestFolder(["texts.json": list, "files/a": ""]) { root async throws in
                try Self.fill(root)
                let folder = try SharedFolder(root + "files/")
                let console = InspectorConsole()
                let lines = try await InspectedAppTests.browse("inspector_hostile.py", [root]) { options, server in
                    options.onStart = { _ in }
                    options.allowedChanges = [.commands, .replaying]
                    options.console = console
                    options.databases = ["Main": root + "main.db"]
                    options.folders = ["Files": folder]
                    Self.name(&options)
                    Self.add(to: &server, console)
                }
                #expect(lines.count == 11 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(lines)")
            }
        }

        // MARK: What the app names

        private static func name(_ options: inout InspectorOptions) {
            options.values.showsEnvironment = false
            for (number, text) in texts.enumerated() {
                // Names that sound secret have masks for values.
                options.values.add(text, in: "Names", get: { "plain" })
                options.values.add("value \(number)", in: number % 10 == 0 ? text : "Values", get: { text })
                options.commands.add(text, .text(text, default: text), .choice("one", of: ["of", text]), detail: text) {
                    _ in
                    throw Problem(.badRequest, text)
                }
            }
            options.commands.add("answers: a table") { _ in .table(columns: texts, rows: [texts]) }
            options.commands.add("answers: JSON") { _ in
                try .json(Dictionary(uniqueKeysWithValues: texts.map { ($0, [$0]) }))
            }
            options.commands.add("answers: text") { _ in .text(texts.joined(separator: "\n")) }
            options.views.add(texts[0]) {
                var root = InspectorView("root", type: "Window", width: 100, height: 100)
                root.properties = texts.map { InspectorView.Property($0, $0) }
                root.children = texts.enumerated().map { number, text in
                    InspectorView(text, type: text, x: Double(number), y: 0, width: 10, height: 10)
                }
                return root
            }
        }

        /// Routes that write lines, echo messages, and answer with what was asked.
        private static func add(to server: inout WebServer, _ console: InspectorConsole) {
            server.post("/hostile-lines") { _ in
                for text in texts {
                    let logger = Logger(label: text) { InspectorLogHandler(label: $0, to: console) }
                    logger.info("\(text)", metadata: ["\(text)": "\(text)", "nested": ["\(text)": "\(text)"]])
                }
                return Response.text("ok")
            }
            server.webSocket("/hostile-socket") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
            server.get("/hostile-wait/:text") { _ in
                // Until the client goes.
                let (never, _) = AsyncStream<Never>.makeStream()
                for await _ in never {}
                return Response.text("gone")
            }
            server.post("/hostile-request/:text") { request in
                var response = Response.text(try await request.text())
                response.headers[.contentLocation] = request.headers[.from]
                return response
            }
        }

        // MARK: What is on the disk

        private static func fill(_ root: String) throws {
            for (number, text) in texts.enumerated() {
                // A name has no slash, and 255 bytes at most.
                let name = "\(number) " + String(text.replacing("/", with: "∕").replacing("\0", with: "").prefix(60))
                try Data(text.utf8).write(to: URL(fileURLWithPath: root + "files/" + name))
            }
            let queue = try DatabaseQueue(path: root + "main.db")
            defer { try? queue.close() }
            try queue.inDatabase { database in
                try database.execute(sql: "BEGIN; CREATE TABLE corpus (text, bytes)")
                for text in texts {
                    try database.execute(sql: "INSERT INTO corpus VALUES (?, ?)", arguments: [text, Data(text.utf8)])
                }
                try name(in: database)
                try database.execute(sql: "COMMIT")
            }
        }

        /// Tables, columns, indexes and views of these names.
        private static func name(in database: Database) throws {
            // SQLite takes no NUL in SQL, and its names know no case of letters.
            var seen: Set<String> = ["corpus", "columns"]
            let names = texts.filter { !$0.contains("\0") && seen.insert($0.lowercased()).inserted }
                .map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }
            for (number, name) in names.enumerated() {
                switch number % 3 {
                case 0: try database.execute(sql: "CREATE TABLE \(name) (\(name) TEXT)")
                case 1: try database.execute(sql: "CREATE VIEW \(name) AS SELECT text AS \(name) FROM corpus")
                default: try database.execute(sql: "CREATE TABLE \(name) (a TEXT DEFAULT 'd')")
                }
            }
            try database.execute(sql: "CREATE TABLE columns (\(names.joined(separator: ", ")))")
            try database.execute(sql: "INSERT INTO columns DEFAULT VALUES")
        }
    }
}
#endif
