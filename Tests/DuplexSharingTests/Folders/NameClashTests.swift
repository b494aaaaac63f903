// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct NameClashTests {
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

    @Test("What has the name stays, goes, or has a neighbour", arguments: NameClash.allCases)
    func clashes(clash: NameClash) async throws {
        try await withTestFolder(["a.txt": "new", "b.txt": "old"]) { root in
            let folder = try SharedFolder(root)
            let (from, to) = (FolderPath("a.txt")!, FolderPath("b.txt")!)
            let change = try? await folder.move(from, to: to, clash: clash)
            let text = { (name: String) in try? String(contentsOfFile: root + name, encoding: .utf8) }
            switch clash {
            case .refuse: #expect(change == nil && text("a.txt") == "new" && text("b.txt") == "old")
            case .replace: #expect(change?.replaced == true && text("a.txt") == nil && text("b.txt") == "new")
            case .number:
                #expect(change?.path.text == "b (1).txt" && text("b (1).txt") == "new" && text("b.txt") == "old")
            }
        }
    }
}
