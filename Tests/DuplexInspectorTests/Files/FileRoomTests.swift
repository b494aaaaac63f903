// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import Foundation
import HTTPTypes
import Testing

@testable import DuplexInspector

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
            options.allows = allows
            try await InspectorClient.run(options, logger: log.logger) { try await body($0, root) }
        }
    }

    @Test("The uploader's page is shown below the guard, in a frame of this origin only")
    func page() async throws {
        try await Self.run { inspector, _ async throws in
            #expect(try await inspector.get("files/list").text == #"{"folders":["Documents"]}"# + "\n")
            let page = try await inspector.get("files/0/")
            #expect(page.status == .ok && page.text.contains("<title>Documents</title>"))
            #expect(page.fields[.contentSecurityPolicy]?.contains("frame-ancestors 'self'") == true)
            #expect(page.fields[.contentSecurityPolicy]?.contains("'none'; frame-src 'self'") != true)
            #expect(page.fields[.xFrameOptions] == "SAMEORIGIN")
            #expect(try await inspector.client.get("/_inspect/files/0/").status == .unauthorized)
            #expect(try await inspector.client.get("/_inspect/files/0/list").status == .unauthorized)
            let list = try await inspector.get("files/0/list").object
            #expect(list["mayWrite"] as? Bool == false && (list["entries"] as? [Any])?.count == 3)
        }
    }

    @Test("What is known of a file: also whether it is a database")
    func attributes() async throws {
        try await Self.run { inspector, _ async throws in
            let file = try await inspector.get("files/attributes", ["folder": "0", "path": "folder/b.txt"]).object
            #expect(
                file["size"] as? Int == 4 && (file["type"] as? String)?.hasPrefix("text/plain") == true
                    && file["database"] == nil
            )
            let database = try await inspector.get("files/attributes", ["folder": "0", "path": "main.db"]).object
            #expect(database["database"] as? String == "Documents/main.db")
            #expect(
                try await inspector.get("files/attributes", ["folder": "0", "path": ""]).object["kind"] as? String
                    == "folder"
            )
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
