// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTesting
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderOperationTests {
    @Test("It changes the folders whose lists change")
    func changes() throws {
        let (from, to) = (try #require(FolderPath("a/b")), try #require(FolderPath("c/d")))
        let (first, second) = (from.parent, to.parent)
        func changed(_ kind: FolderOperation.Kind, to destination: FolderPath? = nil) -> Set<FolderPath> {
            FolderOperation(kind, from, to: destination, by: .app).changedFolders
        }
        #expect(changed(.read) == [])
        #expect(changed(.write) == [first] && changed(.delete) == [first] && changed(.createFolder) == [first])
        #expect(changed(.move, to: to) == [first, second])
        #expect(changed(.copy, to: to) == [second])
    }

    @Test("A visitor is the user and the address of a request, and never the app")
    func visitors() async throws {
        var server = WebServer(port: 0)
        server.get("/", .basicAuth(realm: "x", accounts: ["ann": ":"])) { request in
            let visitor = FolderVisitor(request)
            return "\(visitor.user ?? "-") \(visitor.isApp)"
        }
        try await server.test { client async throws in
            let response = try await client.get("/", headers: [.authorization: "Basic YW5uOjo="])
            #expect(response.text == "ann false")
        }
        #expect(FolderVisitor(user: nil, address: nil) != .app)
    }
}

@Suite struct NameConflictTests {
    @Test(
        "A number comes before the end of a name",
        arguments: [
            ("a.txt", 0, "a.txt"), ("a.txt", 1, "a (1).txt"), ("a.tar.gz", 2, "a.tar (2).gz"), ("a", 3, "a (3)"),
            (".a", 1, ".a (1)"), ("a.", 1, "a (1)."),
        ]
    )
    func numbers(name: String, number: Int, numbered: String) {
        #expect(FolderStore.numbered(name, number) == numbered)
    }

    @Test("A long name is cut between its characters, so that the number fits")
    func longNames() {
        let name = FolderStore.numbered(String(repeating: "é", count: 125) + ".jpeg", 12)
        #expect(name.utf8.count <= 255 && name.hasSuffix("é (12).jpeg"))
    }

    @Test("What has the name stays, goes, or has a neighbour", arguments: NameConflict.allCases)
    func clashes(conflict: NameConflict) async throws {
        try await withTestFolder(["a.txt": "new", "b.txt": "old"]) { root in
            let folder = try SharedFolder(root)
            let (from, to) = (FolderPath("a.txt")!, FolderPath("b.txt")!)
            let change = try? await folder.moving(from, to: to, onConflict: conflict)
            let text = { (name: String) in try? String(contentsOfFile: root + name, encoding: .utf8) }
            switch conflict {
            case .refuse: #expect(change == nil && text("a.txt") == "new" && text("b.txt") == "old")
            case .replace: #expect(change?.replaced == true && text("a.txt") == nil && text("b.txt") == "new")
            case .number:
                #expect(change?.path.text == "b (1).txt" && text("b (1).txt") == "new" && text("b.txt") == "old")
            }
        }
    }
}
