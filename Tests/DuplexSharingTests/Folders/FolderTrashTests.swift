// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexWire
import Foundation
import Glibc
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderTrashTests {
    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test("What was deleted is in the trash, and comes back where it was")
    func restoring() async throws {
        try await withTestFolder(["a/b/c.txt": "c", "d": "d"]) { root in
            let folder = try SharedFolder(root)
            let tree = try await folder.moveToTrash(FolderPath("a")!)
            let file = try await folder.moveToTrash(FolderPath("d")!)
            #expect(try await folder.entries(of: .root).entries == [])
            #expect(try await Set(folder.trash()) == [tree, file])
            #expect(tree.kind == .folder && file.kind == .file && file.size == 1 && file.path.text == "d")
            #expect(try await folder.restore(tree).text == "a")
            #expect(try await folder.restoring(file).replaced == false)
            #expect(Self.text(root + "a/b/c.txt") == "c" && Self.text(root + "d") == "d")
            #expect(try await folder.trash() == [])
            let error = await #expect(throws: FolderError.self) { try await folder.restore(file) }
            #expect(error?.code == .nothing)
        }
    }

    @Test("It gets a number where something else is by then, and its folders again where they are gone")
    func clashes() async throws {
        try await withTestFolder(["a/b/c.txt": "c"]) { root in
            let folder = try SharedFolder(root)
            let first = try await folder.moveToTrash(FolderPath("a/b/c.txt")!)
            try await folder.remove(FolderPath("a")!)
            #expect(try await folder.restore(first).text == "a/b/c.txt")
            let second = try await folder.moveToTrash(FolderPath("a/b/c.txt")!)
            try "other".write(toFile: root + "a/b/c.txt", atomically: true, encoding: .utf8)
            #expect(try await folder.restore(second).text == "a/b/c (1).txt")
            #expect(Self.text(root + "a/b/c.txt") == "other" && Self.text(root + "a/b/c (1).txt") == "c")
        }
    }

    @Test("The trash is there behind a restart, is emptied when that is asked for, and of what is old")
    func emptying() async throws {
        try await withTestFolder(["a": "a", "b": "b"]) { root in
            try await SharedFolder(root).moveToTrash(FolderPath("a")!)
            let folder = try SharedFolder(root)
            #expect(try await folder.trash().map(\.path.text) == ["a"])
            let store = folder.store
            let deleted = try #require(try await folder.trash().first).deleted
            try FolderTrash(store: store).empty(before: deleted)
            #expect(try await folder.trash().count == 1)
            try FolderTrash(store: store).empty(before: UnixTime(seconds: deleted.seconds + 1))
            #expect(try await folder.trash() == [])
            try await folder.moveToTrash(FolderPath("b")!)
            try await folder.emptyTrash()
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + ".duplex/trash") == [])
        }
    }

    @Test("What was never put in whole isn't in it, and is taken out when it is old")
    func halves() async throws {
        let files = [
            ".duplex/trash/1/note": "5\na\n", ".duplex/trash/2/item": "x", ".duplex/trash/3/note": "5\n../a\n",
            ".duplex/trash/3/item": "y",
        ]
        try await withTestFolder(files) { root in
            let folder = try SharedFolder(root)
            #expect(try await folder.trash() == [])
            let trash = FolderTrash(store: folder.store)
            try trash.sweep(before: UnixTime(seconds: 5))
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + ".duplex/trash").count == 3)
            try trash.sweep(before: UnixTime(seconds: .max))
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + ".duplex/trash") == [])
        }
    }

    @Test("A name that a client sends is only a name", arguments: ["..", "../../a", "", "x/y", "."])
    func names(id: String) async throws {
        try await withTestFolder(["a": "a", ".duplex/trash/1/note": "5\na\n"]) { root in
            let folder = try SharedFolder(root)
            #expect(throws: FolderError.self) { try FolderTrash(store: folder.store).restore(id) }
            #expect(Self.text(root + "a") == "a")
        }
    }

    @Test("On a full disk things go into the trash, come back, and are removed", .enabled(if: TestMount.isPossible))
    func full() async throws {
        try await withTestFolder(["m/": ""]) { root in
            try await TestMount.with(root + "m", size: 256 * 1_024) {
                let folder = try SharedFolder(root + "m")
                for name in ["a", "b"] {
                    try name.write(toFile: root + "m/" + name, atomically: false, encoding: .utf8)
                }
                #expect(Self.fill(root + "m/rest") == ENOSPC)
                let items = [
                    try await folder.moveToTrash(#require(FolderPath("a"))),
                    try await folder.moveToTrash(#require(FolderPath("b"))),
                ]
                #expect(try await Set(folder.trash()) == Set(items))
                #expect(try await folder.trashedItem(items[0].id) == items[0])
                try await folder.restore(items[0])
                #expect(Self.text(root + "m/a") == "a")
                try await folder.emptyTrash()
                #expect(try await folder.trash() == [])
                try await folder.remove(#require(FolderPath("rest")))
                try Data(count: 100_000).write(to: URL(fileURLWithPath: root + "m/new"))
            }
        }
    }

    /// Writes a file until that fails; returns why.
    private static func fill(_ path: String) -> Int32 {
        let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
        defer { Glibc.close(file) }
        let bytes = [UInt8](repeating: 7, count: 4_096)
        while unsafe Glibc.write(file, bytes, bytes.count) > 0 {}
        return errno
    }

    @Test("One thing is found by its name in the trash, and nothing outside of it")
    func item() async throws {
        try await withTestFolder(["a": "a", "b/note": "5\nx\n", "b/item": "x"]) { root in
            let folder = try SharedFolder(root)
            #expect(try await folder.trashedItem("x") == nil)
            let item = try await folder.moveToTrash(FolderPath("a")!)
            #expect(try await folder.trashedItem(item.id) == item)
            for id in ["", ".", "..", "../../b", item.id + "/../" + item.id, "x\0"] {
                #expect(try await folder.trashedItem(id) == nil, "\(id)")
            }
        }
    }
}
