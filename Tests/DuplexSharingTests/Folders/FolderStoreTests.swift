// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

@testable import DuplexServer
@testable import DuplexSharing
@testable import DuplexSockets

@Suite(.timeLimit(minutes: 2)) struct FolderStoreTests {
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
            let (entries, isTruncated) = try await folder.entries(of: .root)
            #expect(entries.map(\.name).sorted() == ["a", "b", "below", "folder"] && !isTruncated)
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
            let (entries, isTruncated) = try await SharedFolder(root, options: options).entries(of: .root)
            #expect(entries.count == 19 && isTruncated)
            options.listingLimit = 20
            let whole = try await SharedFolder(root, options: options).entries(of: .root)
            #expect(whole.entries.count == 20 && !whole.isTruncated)
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
                await Self.code { try await folder.move(Self.path("c/a"), to: Self.path("c"), onConflict: .replace) }
                    == .sameplace
            )
            #expect(
                await Self.code { try await folder.move(Self.path("e"), to: Self.path("e"), onConflict: .replace) }
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
            #expect(try await folder.moving(Self.path("a"), to: Self.path("f"), onConflict: .replace).replaced)
            #expect(Self.text(root + "f/b") == "b")
            #expect(try await folder.copying(Self.path("f/b"), to: Self.path("c"), onConflict: .replace).replaced)
            #expect(Self.text(root + "c") == "b")
            #expect(try await folder.copying(Self.path("f"), to: Self.path("g"), onConflict: .replace).replaced)
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
            #expect(try await folder.copy(tree, to: tree, onConflict: .number).text == "a (1)")
            #expect(try await folder.copy(file, to: file, onConflict: .number).text == "c (1).txt")
            #expect(Self.text(root + "a (1)/b") == "b" && Self.text(root + "c (1).txt") == "c")
            for conflict in [NameConflict.refuse, .replace] {
                #expect(await Self.code { try await folder.copy(tree, to: tree, onConflict: conflict) } == .sameplace)
            }
            #expect(await Self.code { try await folder.move(tree, to: tree, onConflict: .number) } == .sameplace)
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

    @Test("Between file systems a move is a copy, and then there is one", .enabled(if: TestMount.isPossible))
    func otherFileSystem() async throws {
        try await Self.withMount(["a/b": "b"]) { root, folder in
            try await folder.move(Self.path("a"), to: Self.path("mount/a"))
            #expect(Self.text(root + "mount/a/b") == "b" && Self.text(root + "a/b") == nil)
            try await folder.copy(Self.path("mount/a/b"), to: Self.path("b"))
            try await folder.move(Self.path("b"), to: Self.path("mount/a"), onConflict: .replace)
            #expect(Self.text(root + "mount/a") == "b")
            try await folder.remove(Self.path("mount/a"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "mount") == [])
            #expect(await Self.code { try await folder.remove(Self.path("mount")) } == .notPermitted)
        }
    }

    @Test("What can't be had on another file system isn't lost by a move there", .enabled(if: TestMount.isPossible))
    func nothingLost() async throws {
        try await Self.withMount(["a/b": "b"]) { root, folder in
            try FileManager.default.createSymbolicLink(atPath: root + "a/link", withDestinationPath: "b")
            let code = await Self.code { try await folder.move(Self.path("a"), to: Self.path("mount/x")) }
            #expect(code == .notPermitted && Self.text(root + "a/link") == "b")
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "mount") == [])
            // A copy may leave out what can't be shared.
            try await folder.copy(Self.path("a"), to: Self.path("mount/x"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "mount/x") == ["b"])
        }
    }

    @Test("What a process that was ended has left on another file system goes a day later")
    func beside() async throws {
        try await withTestFolder([".duplex-1/a": "x", ".duplex-2": "x", "a": "x"]) { root in
            let store = try FolderStore(path: root)
            store.state.sweep(beside: store.root, now: .now)
            #expect(Self.text(root + ".duplex-1/a") == "x" && Self.text(root + ".duplex-2") == "x")
            let later = UnixTime(seconds: UnixTime.now.seconds + FolderState.ageBeside + 1)
            store.state.sweep(beside: store.root, now: later)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["a"])
        }
    }

    @Test("A folder that can't be cleared up is shared all the same")
    func unswept() async throws {
        try await withTestFolder([".duplex/temporary": "a file", "a": "x"]) { root in
            let folder = try SharedFolder(root)
            #expect(try await folder.entries(of: .root).entries.map(\.name) == ["a"])
        }
    }

    @Test("Where two names are one folder to the file system, replacing it by itself leaves it")
    func sameFolder() async throws {
        try await withTestFolder(["a/b": "x"]) { root in
            let store = try FolderStore(path: root)
            let place = try store.place(of: Self.path("a"))
            #expect(try store.put(place, at: place, Self.path("a"), .replace).replaced)
            #expect(Self.text(root + "a/b") == "x")
        }
    }

    @Test("A link to a folder isn't copied, and nothing is left of trying")
    func linkToFolder() async throws {
        try await withTestFolder(["a/b": "x"], links: ["link": "a", "file": "a/b"]) { root in
            let folder = try SharedFolder(root)
            #expect(await Self.code { try await folder.copy(Self.path("link"), to: Self.path("c")) } == .notPermitted)
            try await folder.copy(Self.path("file"), to: Self.path("c"))
            #expect(Self.text(root + "c") == "x")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary").count == 1)
        }
    }

    /// Runs the body with a shared folder that has another file system in it, at `mount`.
    private static func withMount(
        _ files: [String: String],
        _ body: (String, SharedFolder) async throws -> Void
    ) async throws {
        try await withTestFolder(files.merging(["mount/": ""]) { first, _ in first }) { root in
            try await TestMount.with(root + "mount") { try await body(root, SharedFolder(root)) }
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
            // On a machine with much else to do, fewer.
            let end = ContinuousClock.now + .seconds(30)
            for number in 0..<3_000 where done == 0 || ContinuousClock.now < end {
                let path = try Self.path("a/\(number)")
                if await Self.code({ try await folder.createFolder(path) }) == nil { done += 1 }
                _ = await Self.code { try await folder.remove(path) }
            }
            #expect(done > 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "out") == [])
        }
    }

    #if DEBUG
    @Test(
        "Whichever call of giving a file its place fails, an error leaves what was there",
        arguments: [nil, "old"],
        [NameConflict.refuse, .replace, .number]
    )
    func placing(before: String?, conflict: NameConflict) async throws {
        if before != nil && conflict == .refuse { return }
        try await withTestFolder { root in
            let store = try FolderStore(path: root)
            for call in [SystemCall.fileStatus, .openFile, .renameFile, .syncFile] {
                for number in 1... {
                    for name in ["a", "a (1)"] { try? FileManager.default.removeItem(atPath: root + name) }
                    if let before { try before.write(toFile: root + "a", atomically: false, encoding: .utf8) }
                    let target = try store.place(of: Self.path("a"))
                    let staging = try store.stagingPlace(for: target)
                    try staging.folder.makeFile(staging.name).write(Array("new".utf8))
                    let plan = FaultPlan()
                    plan.arm([FaultPlan.Rule(call, .fails(EIO), first: number)])
                    let path = try Self.path("a")
                    let change = plan.run { try? store.put(file: staging, at: target, path, conflict, syncs: true) }
                    let place = conflict == .number && before != nil ? "a (1)" : "a"
                    let now = [Self.text(root + "a"), Self.text(root + "a (1)")].compactMap(\.self)
                    if let change {
                        #expect(change.path.text == place && Self.text(root + place) == "new", "\(call) \(number)")
                    } else {
                        #expect(now == [before].compactMap(\.self), "\(call) \(number)")
                        #expect(try staging.folder.status(of: staging.name) != nil, "\(call) \(number)")
                    }
                    if plan.strikes == 0 { break }
                }
            }
        }
    }
    #endif
}
