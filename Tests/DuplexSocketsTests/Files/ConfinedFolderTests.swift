// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

@testable import DuplexSockets

@Suite("Folders that nothing leads out of", .timeLimit(minutes: 2))
struct ConfinedFolderTests {
    private static let ways: [ConfinedFolder.Way] = [.kernel, .walk]

    /// The text of the file at a path; `nil` where there is none.
    private static func text(_ path: String, in folder: ConfinedFolder) throws -> String? {
        guard case .found(let file) = try folder.find(path), file.kind == .file else { return nil }
        return String(decoding: try file.range(from: 0, count: file.size).readAll(atMost: 1_000), as: UTF8.self)
    }

    @Test("Files and folders are found, by either way", arguments: ways)
    func finding(way: ConfinedFolder.Way) async throws {
        try await withTestFolder(["in/a/b/c.txt": "hello"], links: ["link": "in"]) { root in
            for start in ["in", "link"] {
                let folder = try ConfinedFolder(path: root + start, way: way)
                #expect(try Self.text("a/b/c.txt", in: folder) == "hello")
                for path in ["", "a", "a/b"] {
                    guard case .found(let found) = try folder.find(path) else {
                        Issue.record("“\(path)” isn't found")
                        continue
                    }
                    #expect(found.kind == .folder)
                }
                for path in [
                    "x", "a/x", "a/b/c.txt/d", "A", String(repeating: "n", count: 300),
                    "a/b/" + String(repeating: "n/", count: 5_000),
                ] {
                    guard case .nothing = try folder.find(path) else {
                        Issue.record("“\(path.prefix(20))” is found")
                        continue
                    }
                }
            }
        }
    }

    @Test("A path may be longer than the system takes, and have names that aren't UTF-8", arguments: ways)
    func longPaths(way: ConfinedFolder.Way) async throws {
        try await withTestFolder(["in/": "", "out": "out"]) { root in
            let names = [String](repeating: String(repeating: "n", count: 200), count: 45)
            try DeepFolder.make(names, in: root + "in")
            let inside = try openedFolder(root + "in")
            defer { try? FolderTree.remove(names[0], in: inside) }
            let folder = try ConfinedFolder(path: root + "in", way: way)
            let path = names.joined(separator: "/")
            #expect(try Self.text(path + "/bottom", in: folder) == "deep")
            #expect(try folder.status(of: path + "/bottom")?.size == 4)
            #expect(try Self.text(path + "/x", in: folder) == nil)
            // A link there doesn't lead out, however many folders up it says.
            let link = String(repeating: "../", count: 46) + "out"
            var deepest = inside
            for name in names { deepest = try deepest.folder(name) }
            try FileManager.default.createSymbolicLink(atPath: root + "in/link", withDestinationPath: link)
            try inside.rename("link", to: deepest, as: "out", .refuse)
            #expect(try Self.text(path + "/out", in: folder) == nil)
            try DeepFolder.makeFolder([0xFF], in: root + "in/")
            try DeepFolder.makeFile([0xFF, 0x2F, 0xE9], in: root + "in/", "raw")
            guard case .found(let file) = try folder.find(FileName(bytes: [0xFF, 0x2F, 0xE9])) else {
                Issue.record("The name of bytes isn't found")
                return
            }
            #expect(file.size == 3)
        }
    }

    @Test("No name and no link leads out", arguments: ways)
    func confined(way: ConfinedFolder.Way) async throws {
        let links = [
            "in/up": "..", "in/out": "../out", "in/file": "../out/secret", "in/far": "/etc", "in/passwd": "/etc/passwd",
            "in/a/back": "../../out", "in/self": "self", "in/magic": "/proc/self/root", "in/twice": "a/back",
        ]
        try await withTestFolder(["out/secret": "secret", "in/a/b": "b"], links: links) { root in
            let folder = try ConfinedFolder(path: root + "in", way: way)
            let paths = [
                "../out/secret", "a/../../out/secret", "up/out/secret", "out/secret", "file", "far/passwd", "passwd",
                "a/back/secret", "self", "magic/etc/passwd", "twice/secret", "/etc/passwd", root + "out/secret",
            ]
            for path in paths where !(way == .walk && path.contains("..")) {
                #expect(try Self.text(path, in: folder) == nil, "\(path)")
            }
            #expect(try Self.text("a/b", in: folder) == "b")
        }
    }

    @Test("A link to a place below is followed by the kernel, and not by the walk", arguments: ways)
    func inside(way: ConfinedFolder.Way) async throws {
        try await withTestFolder(["in/a/b": "b"], links: ["in/link": "a/b", "in/deep": "a"]) { root in
            let folder = try ConfinedFolder(path: root + "in", way: way)
            #expect(try Self.text("link", in: folder) == (way == .kernel ? "b" : nil))
            #expect(try folder.status(of: "link")?.kind == (way == .kernel ? .file : nil))
            #expect(try folder.status(of: "a/b")?.size == 1)
            #expect(try folder.status(of: "none") == nil)
            #expect(try Self.text("deep/b", in: folder) == (way == .kernel ? "b" : nil))
        }
    }

    @Test("Pipes and devices are neither files nor folders, and nobody waits for them", arguments: ways)
    func others(way: ConfinedFolder.Way) async throws {
        try await withTestFolder { root in
            let made = unsafe mkfifo(root + "pipe", 0o600)
            #expect(made == 0)
            for (start, name) in [(root, "pipe"), ("/dev", "null")] {
                guard case .found(let found) = try ConfinedFolder(path: start, way: way).find(name) else {
                    Issue.record("\(name) isn't found")
                    continue
                }
                #expect(found.kind == .other)
                #expect(throws: SocketError.self) { try found.range(from: 0, count: 0) }
            }
        }
    }

    @Test("What can't be opened as a folder is an error that says which")
    func noFolder() async throws {
        try await withTestFolder(["a": ""]) { root in
            for path in [root + "a", root + "none"] {
                #expect {
                    _ = try ConfinedFolder(path: path)
                } throws: { error in
                    (error as? SocketError)?.code == .unreadableFile && "\(error)".contains(path)
                }
            }
        }
    }

    @Test("A path that was asked for a moment ago is cached; the walk can't tell")
    func cached() async throws {
        try await withTestFolder(["a/b": "b"]) { root in
            let folder = try ConfinedFolder(path: root)
            #expect(try Self.text("a/b", in: folder) == "b")
            if case .found(let file) = try folder.find("a/b", onlyIfCached: true) { #expect(file.size == 1) }
            guard case .notCached = try ConfinedFolder(path: root, way: .walk).find("a/b", onlyIfCached: true) else {
                Issue.record("The walk says that it doesn't wait.")
                return
            }
        }
    }

    @Test("A folder that is swapped for a link 100,000 times never leads out", arguments: ways)
    func races(way: ConfinedFolder.Way) async throws {
        try await withTestFolder(["in/a/name": "inside", "out/name": "secret"], links: ["in/b": "../out"]) { root in
            let folder = try ConfinedFolder(path: root + "in", way: way)
            let isDone = Atomic(false)
            // The link stands in the folder's place, and the folder again.
            let steps = [("a", "c"), ("b", "a"), ("a", "b"), ("c", "a")]
            let swapper = Thread {
                while !isDone.load(ordering: .relaxed) {
                    for (from, to) in steps { _ = unsafe rename(root + "in/" + from, root + "in/" + to) }
                }
            }
            swapper.start()
            defer { isDone.store(true, ordering: .relaxed) }
            var (found, missed) = (0, 0)
            let end = ContinuousClock.now.advanced(by: .seconds(30))
            // A race in which one side never ran would show nothing.
            while found + missed < 100_000 || min(found, missed) < 100, ContinuousClock.now < end {
                guard case .found(let file) = try folder.find("a/name") else {
                    missed += 1
                    continue
                }
                found += 1
                #expect(file.size == 6)
                if found.isMultiple(of: 97) {
                    #expect(try file.range(from: 0, count: 6).readAll(atMost: 6) == Array("inside".utf8))
                }
            }
            #expect(found >= 100 && missed >= 100, "\(found) and \(missed)")
        }
    }
}
