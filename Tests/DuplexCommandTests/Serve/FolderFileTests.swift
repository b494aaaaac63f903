// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexCommand

@Suite("Files below a folder")
struct FolderFileTests {
    private func make(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test("Files and folders are found, with their size and time; a path leads to the open file")
    func finding() async throws {
        try await withTemporaryFolder { root in
            try FileManager.default.createDirectory(atPath: root + "a/b", withIntermediateDirectories: true)
            try make("hello", root + "a/b/c.txt")
            let file = try #require(try FolderFile.find(["a", "b", "c.txt"], below: root))
            #expect(file.kind == .file && file.size == 5 && file.modified.seconds > 1_700_000_000)
            #expect(try FolderFile.find(["a", "b"], below: root)?.kind == .folder)
            #expect(try FolderFile.find([], below: root)?.kind == .folder)
            // Another file under the name that it had isn't the one that was found.
            try FileManager.default.removeItem(atPath: root + "a/b/c.txt")
            try make("other", root + "a/b/c.txt")
            #expect(FileManager.default.contents(atPath: file.path) == Data("hello".utf8))
            for nothing in [["x"], ["a", "x"], ["a", "b", "c.txt", "d"], [String(repeating: "n", count: 300)]] {
                #expect(try FolderFile.find(nothing, below: root) == nil)
            }
        }
    }

    @Test("No link is followed, but for the folder itself")
    func links() async throws {
        try await withTemporaryFolder { root in
            let (inside, outside) = (root + "inside", root + "outside")
            for folder in [inside, outside] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try make("text", folder + "/file")
            }
            for (name, destination) in [("out", outside), ("file-out", outside + "/file"), ("self", inside + "/file")] {
                try FileManager.default.createSymbolicLink(
                    atPath: inside + "/" + name,
                    withDestinationPath: destination
                )
            }
            try FileManager.default.createSymbolicLink(atPath: root + "link", withDestinationPath: inside)
            for path in [["out"], ["out", "file"], ["file-out"], ["self"]] {
                #expect(try FolderFile.find(path, below: inside) == nil, "\(path)")
            }
            #expect(try FolderFile.find(["file"], below: root + "link")?.kind == .file)
        }
    }

    @Test("A pipe is neither, and nobody waits for who writes to it")
    func pipe() async throws {
        try await withTemporaryFolder { root in
            let made = Process()
            made.executableURL = URL(fileURLWithPath: "/usr/bin/mkfifo")
            made.arguments = [root + "pipe"]
            try made.run()
            made.waitUntilExit()
            #expect(try FolderFile.find(["pipe"], below: root)?.kind == .other)
        }
    }
}
