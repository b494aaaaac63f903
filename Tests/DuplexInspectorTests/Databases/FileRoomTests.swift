// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import GRDB
import HTTPTypes
import Testing

@testable import DuplexInspector
@testable import DuplexSharing

@Suite struct FileRoomTests {
    private static func run(
        allows: Set<InspectorChange> = [],
        log: RecordedLog = RecordedLog(),
        _ body: (InspectorClient, String) async throws -> Void
    ) async throws {
        try await withTestFolder(["a.txt": "text", "folder/b.txt": "more"]) { root async throws in
            try DatabaseFixture.make(root + "main.db")
            var options = InspectorOptions()
            options.folders["Documents"] = try SharedFolder(root)
            options.allowedChanges = allows
            try await InspectorClient.run(options, logger: log.logger) { try await body($0, root) }
        }
    }

    @Test("The uploader's page is shown below the guard, in a frame of this origin only")
    func page() async throws {
        try await Self.run { inspector, _ async throws in
            #expect(try await inspector.get("files/list").value(FileRoom.List.self).folders == ["Documents"])
            let page = try await inspector.get("files/0/")
            #expect(page.status == .ok && page.text.contains("<title>Documents</title>"))
            #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'self'") == true)
            #expect(page.headers[.contentSecurityPolicy]?.contains("'none'; frame-src 'self'") != true)
            #expect(page.headers[.xFrameOptions] == "SAMEORIGIN")
            #expect(try await inspector.client.get("/_inspect/files/0/").status == .unauthorized)
            #expect(try await inspector.client.get("/_inspect/files/0/list").status == .unauthorized)
            let list = try await inspector.get("files/0/list").object
            #expect(list["mayWrite"] as? Bool == false && (list["entries"] as? [Any])?.count == 3)
        }
    }

    @Test("What is known of a file: also whether it is a database")
    func attributes() async throws {
        try await Self.run { inspector, _ async throws in
            func facts(_ path: String) async throws -> FileFacts {
                try await inspector.get("files/attributes", ["folder": "0", "path": path]).value()
            }
            let file = try await facts("folder/b.txt")
            #expect(file.path == "folder/b.txt" && file.name == "b.txt" && file.size == 4)
            #expect(file.type?.hasPrefix("text/plain") == true && file.database == nil)
            #expect(try await facts("main.db").database == "Documents/main.db")
            let root = try await facts("")
            #expect(root.kind == "folder" && root.name == "Documents" && root.type == nil)
            #expect(try await inspector.get("files/attributes", ["folder": "7", "path": ""]).status == .notFound)
            #expect(try await inspector.get("files/attributes", ["folder": "0", "path": "none"]).status == .notFound)
        }
    }

    private static let changes: [(String, [String: any Sendable])] = [
        ("create", ["path": "", "name": "new"]), ("rename", ["path": "a.txt", "name": "c.txt"]),
        ("move", ["paths": ["a.txt"], "to": "folder"]), ("copy", ["paths": ["a.txt"], "to": "folder"]),
        ("delete", ["paths": ["a.txt"]]), ("restore", ["ids": ["x"]]), ("empty", [:]), ("upload", [:]),
        ("uploads", [:]), ("uploads/", [:]), ("uploads/x", [:]),
    ]

    @Test("Nothing is changed where the app doesn't allow it, by any method")
    func readOnly() async throws {
        try await Self.run { inspector, root async throws in
            for (path, body) in Self.changes {
                #expect(try await inspector.post("files/0/\(path)", body).status == .forbidden, "\(path)")
            }
            for method in [HTTPRequest.Method.put, .patch, .delete] {
                for path in ["", "uploads/x", "a.txt"] {
                    let status = try await inspector.request(method, "files/0/\(path)").status
                    #expect(
                        [.forbidden, .notFound, .methodNotAllowed].contains(status),
                        "\(method) \(path): \(status)"
                    )
                }
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: root).filter { !$0.hasPrefix(".") }.sorted() == [
                    "a.txt", "folder", "main.db",
                ]
            )
            #expect(try await inspector.get("files/0/zip", ["path": "folder"]).status == .ok)
        }
    }

    @Test("Where it is allowed it is done, and each change has a line in the log")
    func changing() async throws {
        let log = RecordedLog()
        try await Self.run(allows: [.files], log: log) { inspector, root async throws in
            #expect(try await inspector.get("files/0/list").object["mayWrite"] as? Bool == true)
            #expect(try await inspector.post("files/0/rename", ["path": "a.txt", "name": "c.txt"]).status == .ok)
            let renamed = try await log.entry(of: "the inspector has changed something")
            #expect(renamed.metadata["what"] == "move Documents/a.txt to Documents/c.txt")
            #expect(renamed.metadata["change"] == "files")
            #expect(try await inspector.post("files/0/delete", ["paths": ["c.txt"]]).status == .ok)
            let deleted = try await log.entry(of: "the inspector has changed something", times: 2)
            #expect(deleted.metadata["what"] == "delete Documents/c.txt")
            #expect(!FileManager.default.fileExists(atPath: root + "c.txt"))
            _ = try await inspector.get("files/0/download", ["path": "folder/b.txt"])
            #expect(log.entries.filter { $0.message == "the inspector has changed something" }.count == 2)
        }
    }

    // MARK: Databases

    /// Says from another process whether a database can be written to.
    private static let prober = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
        try:
            database.execute("BEGIN IMMEDIATE")
            print("free")
        except sqlite3.OperationalError as error:
            print("held" if "locked" in str(error) else error)
        """

    @Test("Nothing of the part takes away the locks that the app has on a database", arguments: ["DELETE", "WAL"])
    func locks(_ mode: String) async throws {
        try await Self.run(allows: [.files]) { inspector, root async throws in
            try DatabaseFixture.make(root + "notes.bin", mode: mode)
            try FileManager.default.createSymbolicLink(atPath: root + "link.db", withDestinationPath: "notes.bin")
            try FileManager.default.createDirectory(atPath: root + "deep", withIntermediateDirectories: false)
            try FileManager.default.linkItem(atPath: root + "notes.bin", toPath: root + "deep/other")
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let app = try DatabaseQueue(path: root + "notes.bin", configuration: configuration)
            try await app.write { try $0.execute(sql: "UPDATE people SET age = 2") }
            try app.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
            func state() async throws -> String {
                let run = try await ProgramRun(["python3", "-c", Self.prober, root + "notes.bin"])
                return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            #expect(try await state() == "held")
            for name in ["notes.bin", "link.db", "deep/other", "notes.bin-shm", "notes.bin-wal", "notes.bin-journal"] {
                for path in ["download", "view"] {
                    let answer = try await inspector.get("files/0/\(path)", ["path": name])
                    let isThere = FileManager.default.fileExists(atPath: root + name)
                    #expect(answer.status == (isThere ? .conflict : .notFound), "\(path) \(name)")
                    if isThere { #expect(answer.text.contains("in Databases"), "\(path) \(name)") }
                }
                _ = try await inspector.get("files/attributes", ["folder": "0", "path": name])
                _ = try await inspector.get("files/0/list", ["path": ""])
            }
            let zip = try await inspector.get("files/0/zip", ["path": ""])
            #expect(zip.status == .ok && zip.text.contains("errors.txt") && zip.text.contains("deep/other: is missing"))
            let moves: [(String, [String: any Sendable])] = [
                ("copy", ["from": ["notes.bin"], "to": "folder"]), ("copy", ["from": ["deep"], "to": "folder"]),
                ("move", ["from": ["notes.bin"], "to": "folder"]),
                ("rename", ["path": "notes.bin", "name": "notes2.bin"]),
            ]
            for (path, body) in moves {
                #expect(try await inspector.post("files/0/\(path)", body).status == .conflict, "\(path) \(body)")
            }
            _ = try await inspector.get("databases/list")
            _ = try await inspector.get("databases/download", ["database": "Documents/notes.bin"])
            #expect(try await state() == "held")
            try app.inDatabase { try $0.execute(sql: "ROLLBACK") }
            #expect(try await state() == "free")
            try app.close()
        }
    }

    @Test("A database that the app has named is known by whatever name; files of other kinds are sent")
    func kept() async throws {
        try await withTestFolder(["Thumbs.db": "no database", "page.txt": String(repeating: "x", count: 512)]) {
            root async throws in
            try DatabaseFixture.make(root + "main.db")
            // As one that is encrypted.
            try Data(repeating: 0xA5, count: 1_024).write(to: URL(fileURLWithPath: root + "secret"))
            try Data(repeating: 0xA5, count: 1_024).write(to: URL(fileURLWithPath: root + "named.sqlite"))
            try FileManager.default.linkItem(atPath: root + "secret", toPath: root + "alias")
            var options = InspectorOptions()
            options.folders["D"] = try SharedFolder(root)
            options.databases["Secret"] = root + "secret"
            try await InspectorClient.run(options) { inspector async throws in
                for name in ["secret", "alias", "named.sqlite", "main.db"] {
                    #expect(try await inspector.get("files/0/download", ["path": name]).status == .conflict, "\(name)")
                }
                let answer = try await inspector.get("files/0/download", ["path": "secret"])
                #expect(answer.text.contains("“Secret” in Databases"))
                #expect(try await inspector.get("files/0/download", ["path": "Thumbs.db"]).text == "no database")
                #expect(try await inspector.get("files/0/download", ["path": "page.txt"]).body.count == 512)
            }
        }
    }

    @Test("No path leads out, for attributes, files or databases")
    func hostile() async throws {
        try await HostileFolder.run { folder async throws in
            var options = InspectorOptions()
            options.folders["D"] = try SharedFolder(folder.root)
            try await InspectorClient.run(options) { inspector async throws in
                let mark = "CANARY"
                for name in HostileNames.share(0, of: 20, HostileNames.texts) where name.utf8.count < 2_000 {
                    for (path, query) in [("files/attributes", "folder"), ("files/0/view", "x"), ("files/0/list", "x")]
                    {
                        let answer = try await inspector.get(path, [query: "0", "path": name])
                        #expect(!answer.text.contains(mark), "\(path) \(name.debugDescription)")
                        #expect(!answer.text.contains("root:x:0"), "\(path) \(name.debugDescription)")
                    }
                    #expect(try await inspector.get("databases/schema", ["database": "D/\(name)"]).status != .ok)
                }
            }
        }
    }
}

@Suite struct FileFactsTests {
    @Test("The rights of a file are written as ls does")
    func modes() {
        #expect(FileFacts.mode(0o644) == "rw-r--r-- (644)")
        #expect(FileFacts.mode(0o700) == "rwx------ (700)")
        #expect(FileFacts.mode(0) == "--------- (0)")
    }

    @Test("What the system says of a file and a folder")
    func facts() async throws {
        try await withTestFolder(["a.txt": "four"]) { root async throws in
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: root + "a.txt")
            let file = try FileFacts(root + "a.txt")
            #expect(file.isFile && file.kind == "file" && file.size == 4 && file.mode == "rw-r----- (640)")
            #expect(try !FileFacts(root).isFile)
            #expect(throws: (any Error).self) { try FileFacts(root + "none") }
        }
    }

    @Test("An extended attribute is told as text, or in base 16 where some of it can't be seen")
    func attributes() {
        func attribute(_ bytes: [UInt8], _ size: Int? = nil) -> FileFacts.Attribute {
            FileFacts.Attribute(FileAttribute(name: "user.a", size: size ?? bytes.count, bytes: bytes))
        }
        #expect(attribute(Array("übung".utf8)) == .init(name: "user.a", size: 6, text: "übung", cut: false))
        #expect(attribute([0x61, 0]) == .init(name: "user.a", size: 2, text: "a", cut: false))
        #expect(attribute([0x1B, 0xFF]) == .init(name: "user.a", size: 2, hex: "1bff", cut: false))
        #expect(attribute([]) == .init(name: "user.a", size: 0, text: "", cut: false))
        let long = attribute([UInt8](repeating: 0x61, count: 4_096), 9_000)
        #expect(long.text?.count == 512 && long.cut)
    }
}
