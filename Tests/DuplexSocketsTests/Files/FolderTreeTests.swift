// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

@Suite struct FolderTreeTests {
    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test("A tree goes with all that is in it, and nothing that its links lead to")
    func removing() async throws {
        let links = ["tree/link": "../out", "tree/a/file": "../../out/file"]
        try await withTestFolder(["tree/a/b/c": "c", "tree/d": "d", "out/file": "out"], links: links) { root in
            let folder = try openedFolder(root)
            try FolderTree.remove("tree", in: folder)
            try FolderTree.remove("nothing", in: folder)
            #expect(try folder.status(of: "tree") == nil)
            #expect(Self.text(root + "out/file") == "out")
        }
    }

    @Test("A copy has files and folders with their permissions, and no links")
    func copying() async throws {
        try await withTestFolder(["a/b/c": "c", "a/d": "d", "a/e/": ""], links: ["a/link": "d"]) { root in
            let folder = try openedFolder(root)
            try folder.folder("a").writableFile("d").setPermissions(0o600)
            try FolderTree.copy("a", in: folder, to: folder, as: "copy", attributes: ["user.duplex.test"])
            #expect(Self.text(root + "copy/b/c") == "c" && Self.text(root + "copy/d") == "d")
            let copy = try folder.folder("copy")
            #expect(try Set(copy.names(atMost: 9).names) == ["b", "d", "e"])
            #expect(try copy.status(of: "d")?.permissions == 0o600)
            try FolderTree.copy("a", in: folder, to: folder, as: "itself", onlyItself: true, attributes: [])
            #expect(try folder.folder("itself").names(atMost: 9).names == [])
        }
    }

    @Test("What has the name of the copy stays, and is an error")
    func neverReplaces() async throws {
        try await withTestFolder(["a": "a", "b": "b"]) { root in
            let folder = try openedFolder(root)
            #expect(throws: SocketError.self) {
                try FolderTree.copy("a", in: folder, to: folder, as: "b", attributes: [])
            }
            #expect(Self.text(root + "b") == "b")
        }
    }

    @Test("Files are counted with all that is below, links for nothing")
    func counting() async throws {
        try await withTestFolder(["a/b": "12345", "c": "123"], links: ["d": "c"]) { root in
            let size = try FolderTree.size(of: openedFolder(root))
            #expect(size.bytes == 8 && size.entries == 4)
        }
    }

    @Test("A tree is counted, copied and removed however deep it is", arguments: [450, 2_000, 5_000])
    func depth(count: Int) async throws {
        try await withTestFolder { root in
            try DeepFolder.make([String](repeating: "d", count: count), in: root)
            let top = try openedFolder(root)
            defer { for name in ["d", "copy"] { try? FolderTree.remove(name, in: top) } }
            let size = try FolderTree.size(of: top)
            #expect(size.entries == count + 2 && size.bytes == 4)
            try FolderTree.copy("d", in: top, to: top, as: "copy", attributes: [])
            // Links aren't copied.
            let copied = try FolderTree.size(of: try top.folder("copy"))
            #expect(copied.entries == count && copied.bytes == 4)
            try FolderTree.remove("copy", in: top)
            try FolderTree.remove("d", in: top)
            #expect(try top.allNames(atMost: 9).names == [])
        }
    }

    @Test("What has a name that isn't UTF-8 is counted, copied and removed by its bytes")
    func rawNames() async throws {
        try await withTestFolder(["a/": ""]) { root in
            let (file, inner) = ([0x63, 0xE9, 0x2E, 0x74] as [UInt8], [0x64, 0xFF] as [UInt8])
            try DeepFolder.makeFile(file, in: root + "a/", "file")
            try DeepFolder.makeFolder(inner, in: root + "a/")
            let top = try openedFolder(root)
            try top.folder("a").folder(FileName(bytes: inner)).makeFile("x").write([1])
            try FolderTree.copy("a", in: top, to: top, as: "copy", isWhole: true, attributes: [])
            let copy = try top.folder("copy")
            #expect(try Set(copy.allNames(atMost: 9).names) == [FileName(bytes: file), FileName(bytes: inner)])
            #expect(try copy.folder(FileName(bytes: inner)).status(of: "x")?.size == 1)
            #expect(try FolderTree.size(of: top).bytes == 10)
            try FolderTree.remove("copy", in: top)
            try FolderTree.remove("a", in: top)
            #expect(try top.allNames(atMost: 9).names == [])
        }
    }

    @Test("Names are read some at a time, and a folder goes whole all the same", arguments: [1, 3, 100])
    func batches(batch: Int) async throws {
        var files = ["tree/f/g/h": ""]
        for number in 0..<10 { (files["tree/\(number)"], files["tree/d\(number)/x"]) = ("", "") }
        try await withTestFolder(files) { root in
            let folder = try openedFolder(root)
            try FolderTree.remove("tree", in: folder, batch: batch)
            #expect(try folder.status(of: "tree") == nil)
        }
    }

    @Test(
        "What can't be removed is an error, and all else goes",
        .enabled(if: TestMount.isPossible),
        arguments: [1, 100]
    )
    func stays(batch: Int) async throws {
        let files = ["tree/a/b": "", "tree/m/mount/": "", "tree/m/x": "", "tree/z/y": "", "tree/w": ""]
        try await withTestFolder(files) { root in
            try await TestMount.with(root + "tree/m/mount") {
                let folder = try openedFolder(root)
                let error = #expect(throws: SocketError.self) {
                    try FolderTree.remove("tree", in: folder, batch: batch)
                }
                #expect(error?.errno == EBUSY)
                // With one name at a time those that stay may hide others.
                if batch > 1 { #expect(try FileManager.default.subpathsOfDirectory(atPath: root).count == 3) }
            }
            try FolderTree.remove("tree", in: try openedFolder(root))
        }
    }
}

@Suite struct FolderDescentTests {
    @Test("A way goes down by names and up again, and knows what is left to be gone into")
    func wayDownAndUp() async throws {
        try await withTestFolder(["a/b/": "", "a/c/": ""]) { root in
            var way = FolderDescent(from: try openedFolder(root))
            way.rest = [FileName("a")]
            #expect(way.next() == FileName("a"))
            try way.enter(FileName("a"))
            way.rest = [FileName("b"), FileName("c")]
            #expect(way.next() == FileName("c"))
            try way.enter(FileName("c"))
            #expect(way.depth == 2 && way.next() == nil)
            #expect(try way.leave() == FileName("c"))
            #expect(way.rest == [FileName("b")])
            #expect(throws: SocketError.self) { try way.enter(FileName("nothing")) }
            #expect(try way.leave() == FileName("a"))
            #expect(way.depth == 0 && way.next() == nil)
            #expect(try way.folder.names(atMost: 9).names == ["a"])
        }
    }

    @Test("A way up that leads elsewhere isn't gone, and the way goes on from what is still there")
    func moved() async throws {
        try await withTestFolder(["a/b/c/d/": "", "other/": ""]) { root in
            var way = FolderDescent(from: try openedFolder(root))
            for name in ["a", "b", "c", "d"] { try way.enter(FileName(name)) }
            try FileManager.default.moveItem(atPath: root + "a/b/c", toPath: root + "other/c")
            _ = try way.leave()
            let error = #expect(throws: SocketError.self) { try way.leave() }
            #expect(error?.errno == EAGAIN)
            way.recover()
            #expect(way.depth == 2)
            #expect(try way.folder.names(atMost: 9).names == [])
            #expect(try way.leave() == FileName("b"))
        }
    }

    @Test("Another folder of the name isn't the one that was gone through")
    func replaced() async throws {
        try await withTestFolder(["a/b/": ""]) { root in
            var way = FolderDescent(from: try openedFolder(root))
            for name in ["a", "b"] { try way.enter(FileName(name)) }
            try FileManager.default.moveItem(atPath: root + "a", toPath: root + "old")
            try FileManager.default.createDirectory(atPath: root + "a", withIntermediateDirectories: false)
            way.recover()
            #expect(way.depth == 0)
        }
    }
}
