// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import Foundation
import HTTPTypes
import Testing

@testable import DuplexInspector
@testable import DuplexSharing

@Suite struct DatabaseCatalogueTests {
    private static let visitor = FolderVisitor(user: nil, address: nil)

    @Test("Databases are found by what is in them, and named ones are told of whatever is wrong with them")
    func found() async throws {
        try await withTestFolder(["text.db": "no database", "large.txt": String(repeating: "x", count: 1_024)]) {
            root in
            try FileManager.default.createDirectory(atPath: root + "deep/er", withIntermediateDirectories: true)
            try DatabaseFixture.make(root + "deep/er/notes.bin", mode: "WAL")
            try DatabaseFixture.make(root + "main.sqlite")
            try DatabaseFixture.make(root + ".hidden.db")
            let catalogue = DatabaseCatalogue(
                named: ["Gone": root + "gone.db", "Main": root + "main.sqlite"],
                folders: ["Documents": try SharedFolder(root)]
            )
            let all = try await catalogue.all(for: Self.visitor)
            #expect(all.map(\.id) == ["Gone", "Main", "Documents/deep/er/notes.bin", "Documents/main.sqlite"])
            #expect(all.map { $0.problem == nil } == [false, true, true, true])
            let file = try await catalogue.file("Documents/deep/er/notes.bin", for: Self.visitor)
            #expect(await file.fault() == nil)
        }
    }

    @Test("Nobody gets at a database of a folder that they may not read")
    func access() async throws {
        try await withTestFolder { root async throws in
            try DatabaseFixture.make(root + "main.db")
            var options = FolderOptions()
            options.access = { _ in .none }
            var asking = FolderOptions()
            asking.before = { _ in throw Problem(.forbidden, "Not this one.") }
            for options in [options, asking] {
                let catalogue = DatabaseCatalogue(named: [:], folders: ["D": try SharedFolder(root, options: options)])
                #expect(try await catalogue.all(for: Self.visitor).isEmpty)
                let problem = await DatabaseFixture.problem {
                    _ = try await catalogue.file("D/main.db", for: Self.visitor)
                }
                #expect(problem?.status == .forbidden)
            }
        }
    }

    @Test("No name and no link leads to a file outside")
    func hostile() async throws {
        try await HostileFolder.run { folder async throws in
            // A database beside the folder, and one link to it.
            let outside = URL(fileURLWithPath: folder.root).deletingLastPathComponent().path + "/outside.db"
            try DatabaseFixture.make(outside)
            try FileManager.default.createSymbolicLink(atPath: folder.root + "link.db", withDestinationPath: outside)
            let catalogue = DatabaseCatalogue(named: [:], folders: ["D": try SharedFolder(folder.root)])
            #expect(try await catalogue.all(for: Self.visitor).allSatisfy { !$0.id.hasSuffix("link.db") })
            let root = URL(fileURLWithPath: folder.root).resolvingSymlinksInPath().path + "/"
            for name in HostileNames.texts + ["link.db", "../outside.db", outside] {
                guard let file = try? await catalogue.file("D/\(name)", for: Self.visitor) else { continue }
                #expect((file.path + "/").hasPrefix(root), "\(name.debugDescription) leads to \(file.path)")
            }
        }
    }
}
