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

    @Test("A tree that lies too deep is an error, and no end of the process")
    func depth() async throws {
        try await withTestFolder { root in
            var folder = try openedFolder(root)
            for _ in 0..<(FolderTree.depthLimit + 2) {
                try folder.makeFolder("f")
                folder = try folder.folder("f")
            }
            let top = try openedFolder(root)
            let error = #expect(throws: SocketError.self) { try FolderTree.remove("f", in: top) }
            #expect(error?.errno == ELOOP)
            #expect(try FolderTree.size(of: top).entries > 100)
        }
    }
}
