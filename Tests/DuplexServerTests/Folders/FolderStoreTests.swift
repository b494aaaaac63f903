// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import Foundation
import Synchronization
import Testing

@testable import DuplexServer

@Suite(.timeLimit(.minutes(2))) struct FolderStoreTests {
    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    private static func code(_ body: () async throws -> Void) async -> FolderError.Code? {
        do { try await body() } catch { return (error as? FolderError)?.code ?? .system }
        return nil
    }

    private static func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }

    @Test("A folder's entries are its files, its folders, and links to such that are below")
    func entries() async throws {
        let links = ["in/below": "a", "in/folder": "b", "in/out": "../out", "in/far": "/etc/passwd", "in/nowhere": "x"]
        try await withTestFolder(["in/a": "1", "in/b/c": "2", "in/.hidden": "3", "out": "4"], links: links) { root in
            let made = unsafe mkfifo(root + "in/pipe", 0o600)
            #expect(made == 0)
            let folder = try SharedFolder(root + "in")
            let (entries, isCut) = try await folder.entries(of: .root)
            #expect(entries.map(\.name).sorted() == ["a", "b", "below", "folder"] && !isCut)
            #expect(entries.filter { $0.kind == .folder }.map(\.name).sorted() == ["b", "folder"])
            #expect(await Self.code { _ = try await folder.entries(of: Self.path("a")) } == .isFile)
            #expect(await Self.code { _ = try await folder.entries(of: Self.path("x")) } == .nothing)
            #expect(await Self.code { _ = try await folder.open(Self.path("out"), by: .app) } == .nothing)
        }
    }

    @Test("A long folder is cut, and says so")
    func bounds() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<20).map { ("f\($0)", "") })
        try await withTestFolder(files) { root in
            var options = FolderOptions()
            options.listingLimit = 19
            let (entries, isCut) = try await SharedFolder(root, options).entries(of: .root)
            #expect(entries.count == 19 && isCut)
            options.listingLimit = 20
            let whole = try await SharedFolder(root, options).entries(of: .root)
            #expect(whole.entries.count == 20 && !whole.isCut)
        }
    }

    @Test("Moving a file, a folder, and what isn't there")
    func moving() async throws {
        try await withTestFolder(["a/b": "b", "c/d": "d", "e": "e"]) { root in
            let folder = try SharedFolder(root)
            try await folder.move(Self.path("a"), to: Self.path("c/a"))
            #expect(Self.text(root + "c/a/b") == "b" && Self.text(root + "a/b") == nil)
            #expect(await Self.code { try await folder.move(Self.path("x"), to: Self.path("y")) } == .nothing)
            #expect(await Self.code { try await folder.move(Self.path("e"), to: Self.path("x/y")) } == .noParent)
            #expect(await Self.code { try await folder.move(Self.path("e"), to: Self.path("e/f")) } == .sameplace)
            #expect(await Self.code { try await folder.move(Self.path("c"), to: Self.path("c/a/c")) } == .sameplace)
            #expect(
                await Self.code { try await folder.move(Self.path("c/a"), to: Self.path("c"), clash: .replace) }
                    == .sameplace
            )
            #expect(
                await Self.code { try await folder.move(Self.path("e"), to: Self.path("e"), clash: .replace) }
                    == .sameplace
            )
            #expect(await Self.code { try await folder.move(.root, to: Self.path("e/f")) } == .sameplace)
            #expect(Self.text(root + "e") == "e" && Self.text(root + "c/a/b") == "b")
        }
    }

    @Test(
        "What is replaced goes only when the other is there: a file by a folder, a folder by a file, a folder by a folder"
    )
    func replacing() async throws {
        try await withTestFolder(["a/b": "b", "c/d/e": "e", "f": "f", "g/h": "h"]) { root in
            let folder = try SharedFolder(root)
            #expect(try await folder.move(Self.path("a"), to: Self.path("f"), clash: .replace).replaced)
            #expect(Self.text(root + "f/b") == "b")
            #expect(try await folder.copy(Self.path("f/b"), to: Self.path("c"), clash: .replace).replaced)
            #expect(Self.text(root + "c") == "b")
            #expect(try await folder.copy(Self.path("f"), to: Self.path("g"), clash: .replace).replaced)
            #expect(Self.text(root + "g/b") == "b" && Self.text(root + "g/h") == nil)
            let temporary = try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary")
            #expect(temporary.count == 1)
        }
    }

    @Test("A copy with a number may be beside what it is of, and no other copy may")
    func besideItself() async throws {
        try await withTestFolder(["a/b": "b", "c.txt": "c"]) { root in
            let folder = try SharedFolder(root)
            let (tree, file) = (try Self.path("a"), try Self.path("c.txt"))
            #expect(try await folder.copy(tree, to: tree, clash: .number).path.text == "a (1)")
            #expect(try await folder.copy(file, to: file, clash: .number).path.text == "c (1).txt")
            #expect(Self.text(root + "a (1)/b") == "b" && Self.text(root + "c (1).txt") == "c")
            for clash in [NameClash.refuse, .replace] {
                #expect(await Self.code { try await folder.copy(tree, to: tree, clash: clash) } == .sameplace)
            }
            #expect(await Self.code { try await folder.move(tree, to: tree, clash: .number) } == .sameplace)
            #expect(Self.text(root + "a/b") == "b" && Self.text(root + "c.txt") == "c")
        }
    }

    @Test("A copy that fails leaves nothing, and what was there")
    func failing() async throws {
        try await withTestFolder(["a/b": "b", "c": "c"]) { root in
            let folder = try SharedFolder(root)
            #expect(await Self.code { try await folder.copy(Self.path("a"), to: Self.path("c")) } == .exists)
            #expect(Self.text(root + "c") == "c")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary").count == 1)
            try await folder.copy(Self.path("a"), to: Self.path("d"), onlyItself: true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "d") == [])
        }
    }

    @Test("Between file systems a move is a copy, and then there is one")
    func otherFileSystem() async throws {
        // Where there is no second file system to be had, a link leads nowhere else, and there is nothing to show.
        guard FileManager.default.fileExists(atPath: "/dev/shm"), getuid() == 0 else { return }
        try await withTestFolder(["mount/": "", "a/b": "b"]) { root in
            guard PeerMount.mount(at: root + "mount") else { return }
            defer { PeerMount.unmount(root + "mount") }
            let folder = try SharedFolder(root)
            try await folder.move(Self.path("a"), to: Self.path("mount/a"))
            #expect(Self.text(root + "mount/a/b") == "b" && Self.text(root + "a/b") == nil)
            try await folder.copy(Self.path("mount/a/b"), to: Self.path("b"))
            try await folder.move(Self.path("b"), to: Self.path("mount/a"), clash: .replace)
            #expect(Self.text(root + "mount/a") == "b")
            try await folder.delete(Self.path("mount/a"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "mount") == [])
        }
    }

    @Test("Nothing is made outside while somebody swaps a folder for a link")
    func races() async throws {
        try await withTestFolder(["in/a/": "", "out/": ""]) { root in
            let folder = try SharedFolder(root + "in")
            let isOver = Atomic(false)
            let swapper = Thread {
                while !isOver.load(ordering: .relaxed) {
                    _ = unsafe rename(root + "in/a", root + "in/b")
                    _ = unsafe symlink("../out", root + "in/a")
                    _ = unsafe unlink(root + "in/a")
                    _ = unsafe rename(root + "in/b", root + "in/a")
                }
            }
            swapper.start()
            defer { isOver.store(true, ordering: .relaxed) }
            var done = 0
            for number in 0..<3_000 {
                let path = try Self.path("a/\(number)")
                if await Self.code({ try await folder.createFolder(path) }) == nil { done += 1 }
                _ = await Self.code { try await folder.delete(path) }
            }
            #expect(done > 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "out") == [])
        }
    }
}

/// A file system in memory, for those who may mount one.
private enum PeerMount {
    static func mount(at path: String) -> Bool {
        let program = URL(fileURLWithPath: "/bin/mount")
        guard let process = try? Process.run(program, arguments: ["-t", "tmpfs", "none", path]) else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static func unmount(_ path: String) {
        _ = try? Process.run(URL(fileURLWithPath: "/bin/umount"), arguments: ["-l", path])
    }
}
