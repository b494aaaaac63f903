// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

/// Trees that are deeper than paths lead, and names that aren't UTF-8: nothing is left out without a word.
@Suite("Deep trees and names of bytes", .timeLimit(minutes: 2))
struct DeepFolderTests {
    private static let raw: [UInt8] = [0x63, 0xE9, 0x2E, 0x74]

    private static func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }

    private static func code(_ body: () async throws -> Void) async -> FolderError.Code? {
        do { try await body() } catch { return (error as? FolderError)?.code ?? .system }
        return nil
    }

    /// How many files and folders the server has left in its temporary folder.
    private static func temporary(_ root: String) throws -> Int {
        let store = try FolderStore(path: root + ".duplex/temporary")
        return try FolderTree.size(of: store.root).entries - 1
    }

    // MARK: Deep trees

    @Test(
        "A deep tree is copied, moved, thrown away, restored and deleted, and nothing is left of it",
        arguments: [420, 2_000]
    )
    func deep(count: Int) async throws {
        try await withTestFolder { root in
            try DeepFolder.make([String](repeating: "d", count: count), in: root)
            let folder = try SharedFolder(root)
            defer { for name in ["d", "e", "f"] { try? FolderTree.remove(name, in: folder.store.root) } }
            try await folder.copy(Self.path("d"), to: Self.path("e"))
            let copied = try FolderTree.size(of: folder.store.root.folder("e"))
            #expect(copied.bytes == 4 && copied.entries == count)
            try await folder.move(Self.path("e"), to: Self.path("f"))
            try await folder.restore(try await folder.moveToTrash(Self.path("f")))
            try await folder.move(Self.path("d"), to: Self.path("f"), onConflict: .replace)
            #expect(try Self.temporary(root) == 0)
            try await folder.moveToTrash(Self.path("f"))
            try await folder.emptyTrash()
            #expect(try Self.temporary(root) == 0)
            #expect(try FolderTree.size(of: folder.store.root).bytes == 0)
        }
    }

    @Test("A deep tree counts in the quota, also after it was nested by moves")
    func quota() async throws {
        try await withTestFolder { root in
            for name in ["a", "b", "c", "d"] {
                try DeepFolder.make([String](repeating: name, count: 98), in: root)
            }
            var options = FolderOptions()
            options.quota = .bytes(16)
            let folder = try SharedFolder(root, options: options)
            for (inner, outer) in [("a", "b"), ("b", "c"), ("c", "d")] {
                let place = [String](repeating: outer, count: 98) + [inner]
                try await folder.move(Self.path(inner), to: Self.path(place.joined(separator: "/")))
            }
            #expect(try await folder.space().used == 16)
            let code = await Self.code { try await folder.copy(Self.path("d"), to: Self.path("e")) }
            #expect(code == .overQuota)
            try await folder.remove(Self.path("d"))
            #expect(try await folder.space().used == 0)
            #expect(try FolderTree.size(of: folder.store.root).bytes == 0)
        }
    }

    @Test("A folder whose content is deeper than paths lead is listed as cut, and a search says so")
    func cut() async throws {
        try await withTestFolder { root in
            try DeepFolder.make([String](repeating: "d", count: 101), in: root)
            let folder = try SharedFolder(root)
            let last = try Self.path([String](repeating: "d", count: 100).joined(separator: "/"))
            let listing = try await folder.entries(of: last)
            #expect(listing.entries.isEmpty && listing.isTruncated)
            let above = try await folder.entries(of: last.parent)
            #expect(above.entries.map(\.name) == ["d"] && !above.isTruncated)
            let result = try await folder.search(
                for: "bottom",
                below: .root,
                lookingAt: 1_000,
                finding: 100,
                by: .app
            )
            #expect(result.found.isEmpty && result.isTruncated)
        }
    }

    @Test("Paths that are longer than the system takes are read, written and searched")
    func longPaths() async throws {
        try await withTestFolder { root in
            let names = [String](repeating: String(repeating: "n", count: 200), count: 60)
            try DeepFolder.make(names, in: root)
            let folder = try SharedFolder(root)
            defer { try? FolderTree.remove(names[0], in: folder.store.root) }
            let last = try Self.path(names.joined(separator: "/"))
            #expect(try await folder.entries(of: last).entries.map(\.name).sorted() == ["bottom", "link"])
            try await folder.createFolder(try #require(last.appending("new")))
            let result = try await folder.search(for: "bottom", below: .root, lookingAt: 1_000, finding: 9, by: .app)
            #expect(result.found.count == 1 && !result.isTruncated)
        }
    }

    // MARK: What can't be removed

    @Test(
        "What can't be deleted whole is an error and stays in its place, and is logged",
        .enabled(if: TestMount.isPossible)
    )
    func stays() async throws {
        try await withTestFolder(["a/m/mount/": "", "a/b": "x"]) { root in
            let log = RecordedLog()
            var options = FolderOptions()
            options.logger = log.logger
            let folder = try SharedFolder(root, options: options)
            try await TestMount.with(root + "a/m/mount") {
                let code = await Self.code { try await folder.remove(Self.path("a")) }
                #expect(code == .notPermitted)
                let entry = try await log.entry(of: "Something in a shared folder can't be deleted whole.")
                #expect(entry.metadata["path"] == "/a" && entry.metadata["error"]?.contains("mount") == true)
                #expect(try FileManager.default.subpathsOfDirectory(atPath: root + "a").sorted() == ["m", "m/mount"])
                #expect(try Self.temporary(root) == 0)
                // In the trash it is still an item.
                let item = try await folder.moveToTrash(Self.path("a"))
                #expect(await Self.code { try await folder.emptyTrash() } == .notPermitted)
                #expect(try await folder.trash() == [item])
                try await folder.restore(item)
            }
            try await folder.remove(Self.path("a"))
            #expect(try await folder.entries(of: .root).entries.isEmpty)
        }
    }

    @Test("Clearing up at the start goes past what can't be removed, and logs it", .enabled(if: TestMount.isPossible))
    func sweeping() async throws {
        var files = [".duplex/temporary/m/mount/": ""]
        for number in 0..<20 { files[".duplex/temporary/\(number)/x"] = "x" }
        try await withTestFolder(files) { root in
            try DeepFolder.make([String](repeating: "d", count: 2_000), in: root + ".duplex/temporary")
            let log = RecordedLog()
            var options = FolderOptions()
            options.logger = log.logger
            try await TestMount.with(root + ".duplex/temporary/m/mount") {
                _ = try SharedFolder(root, options: options)
                let left = try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary")
                #expect(left.sorted() == ["m", "m/mount"])
                let entry = try await log.entry(of: "What was left in a shared folder can't be removed.")
                #expect(entry.metadata["place"] == ".duplex/temporary/m")
            }
            _ = try SharedFolder(root, options: options)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary") == [])
        }
    }

    // MARK: Names that aren't UTF-8

    @Test("Names of bytes are copied, and moved to another file system", .enabled(if: TestMount.isPossible))
    func otherFileSystem() async throws {
        try await withTestFolder(["a/b": "b", "mount/": ""]) { root in
            try await TestMount.with(root + "mount") {
                try DeepFolder.makeFile(Self.raw, in: root + "a/", "raw")
                try DeepFolder.makeFolder([0xFF], in: root + "a/")
                let folder = try SharedFolder(root)
                try await folder.copy(Self.path("a"), to: Self.path("mount/a"))
                try await folder.move(Self.path("a"), to: Self.path("mount/c"))
                for name in ["a", "c"] {
                    let copy = try folder.store.root.folder("mount").folder(name)
                    #expect(
                        try Set(copy.allNames(atMost: 9).names)
                            == [FileName("b"), FileName(bytes: Self.raw), FileName(bytes: [0xFF])]
                    )
                    #expect(try copy.status(of: FileName(bytes: Self.raw))?.size == 3)
                }
                #expect(try folder.store.root.status(of: "a") == nil)
            }
        }
    }

    @Test("Names that no path can have are counted where they aren't listed, and a search says so")
    func unlisted() async throws {
        try await withTestFolder(["a/b": "b", "a/.hidden": "", "a/x\ny": ""]) { root in
            try DeepFolder.makeFile(Self.raw, in: root + "a/")
            try DeepFolder.makeFile([0x2E, 0xFF], in: root + "a/")
            let folder = try SharedFolder(root)
            let listing = try await folder.listing(of: Self.path("a"))
            #expect(listing.entries.map(\.name) == ["b"] && listing.unlisted == 2 && !listing.isTruncated)
            let result = try await folder.search(for: "t", below: .root, lookingAt: 100, finding: 9, by: .app)
            #expect(result.found.isEmpty && result.isTruncated)
        }
    }
}
