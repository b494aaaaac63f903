// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

@Suite struct OpenedFolderTests {
    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private static func errno(_ body: () throws -> Void) -> Int32? {
        do { try body() } catch { return (error as? SocketError)?.errno }
        return 0
    }

    @Test("A file is no folder")
    func onlyFolders() async throws {
        try await withTestFolder(["file": "hello"]) { root in
            let file = try openedFolder(root).file("file")
            #expect(OpenedFolder(file) == nil)
        }
    }

    @Test(
        "What is no name, or more than one, is refused by every call",
        arguments: ["", ".", "..", "a/b", "/", "../x", "a\u{0}b"]
    )
    func names(name: String) async throws {
        try await withTestFolder(["a/b": "b"]) { root in
            let folder = try openedFolder(root)
            let calls: [() throws -> Void] = [
                { _ = try folder.status(of: name) }, { _ = try folder.folder(name) }, { _ = try folder.file(name) },
                { try folder.makeFolder(name) }, { _ = try folder.makeFile(name) },
                { _ = try folder.writableFile(name) }, { try folder.rename(name, to: folder, as: "c", .replace) },
                { try folder.rename("a", to: folder, as: name, .replace) }, { try folder.removeFile(name) },
                { try folder.removeFolder(name) },
            ]
            for call in calls { #expect(Self.errno(call) == EINVAL) }
            #expect(try Self.text(root + "a/b") == "b")
        }
    }

    @Test("No link is followed: not by opening, making, removing or renaming")
    func links() async throws {
        let links = ["in/file": "../out/file", "in/folder": "../out"]
        try await withTestFolder(["out/file": "out", "in/": ""], links: links) { root in
            let folder = try openedFolder(root + "in")
            #expect(Self.errno { _ = try folder.file("file") } == ELOOP)
            #expect(Self.errno { _ = try folder.writableFile("file") } == ELOOP)
            #expect([ELOOP, ENOTDIR].contains(Self.errno { _ = try folder.folder("folder") }))
            #expect(Self.errno { _ = try folder.makeFile("file") } == EEXIST)
            #expect(Self.errno { try folder.makeFolder("folder") } == EEXIST)
            try folder.rename("file", to: folder, as: "moved", .refuse)
            try folder.removeFile("moved")
            try folder.removeFile("folder")
            #expect(try Self.text(root + "out/file") == "out")
        }
    }

    @Test("A name that something has is taken, refused or exchanged, as it is asked for")
    func renaming() async throws {
        try await withTestFolder(["a": "a", "b": "b", "f/c": "c", "e/": ""]) { root in
            let folder = try openedFolder(root)
            #expect(Self.errno { try folder.rename("a", to: folder, as: "b", .refuse) } == EEXIST)
            #expect(try Self.text(root + "b") == "b")
            try folder.rename("a", to: folder, as: "b", .exchange)
            #expect(try [Self.text(root + "a"), Self.text(root + "b")] == ["b", "a"])
            try folder.rename("a", to: folder, as: "b", .replace)
            #expect(try folder.status(of: "a") == nil && Self.text(root + "b") == "b")
            try folder.rename("b", to: try folder.folder("f"), as: "b", .refuse)
            #expect(try Self.text(root + "f/b") == "b")
            try folder.rename("f", to: folder, as: "e", .exchange)
            #expect(try Self.text(root + "e/c") == "c")
        }
    }

    @Test("Folders and files are made, found and removed; names are read up to a bound")
    func making() async throws {
        try await withTestFolder { root in
            let folder = try openedFolder(root)
            try folder.makeFolder("a")
            try folder.folder("a").makeFile("b").write(Array("text".utf8))
            #expect(try Self.text(root + "a/b") == "text")
            #expect(Self.errno { try folder.makeFolder("a") } == EEXIST)
            #expect(Self.errno { try folder.removeFolder("a") } == ENOTEMPTY)
            try folder.folder("a").removeFile("b")
            try folder.removeFolder("a")
            #expect(try folder.status(of: "a") == nil)
            for name in ["1", "2", "3"] { try folder.makeFolder(name) }
            #expect(try Set(folder.names(atMost: 3).names) == ["1", "2", "3"])
            #expect(try folder.names(atMost: 3).isCut == false)
            #expect(try folder.names(atMost: 2).isCut && folder.names(atMost: 2).names.count == 2)
            try folder.sync()
            let space = try folder.space()
            #expect(space.free > 0 && space.free <= space.total)
        }
    }

    @Test("A lock holds for as long as its folder is open, whoever has a copy of the descriptor")
    func locking() async throws {
        try await withTestFolder { root in
            let other = try openedFolder(root)
            // As a process has one that is just being started.
            var copy: Int32 = -1
            do {
                let folder = try openedFolder(root)
                #expect(folder.lock() && !other.lock())
                copy = dup(folder.descriptor)
            }
            #expect(copy >= 0 && other.lock())
            SystemCalls.close(copy)
        }
    }

    #if DEBUG
    @Test(
        "What the system refuses is an error with its number",
        arguments: [SystemCall.makeFolder, .syncFile, .renameFile]
    )
    func refusals(call: SystemCall) async throws {
        try await withTestFolder(["a": "a"]) { root in
            let folder = try openedFolder(root)
            let plan = FaultPlan()
            plan.arm([FaultPlan.Rule(call, .fails(EIO))])
            let code = plan.run {
                Self.errno {
                    try folder.makeFolder("b")
                    try folder.rename("a", to: folder, as: "c", .refuse)
                    try folder.sync()
                }
            }
            #expect(code == EIO)
        }
    }
    #endif
}

@Suite struct FileNameTests {
    @Test("A name that isn't UTF-8 has no text, and can be shown all the same")
    func texts() {
        let name = FileName(bytes: [0x2E, 0x61, 0xFF])
        #expect(name.text == nil && name.escaped == ".a%FF" && name.isHidden)
        #expect(FileName("ä%").text == "ä%" && FileName("ä%").escaped == "ä%" && !FileName("a").isHidden)
        #expect("a".fileName == FileName(bytes: [0x61]))
    }

    @Test("Files and folders are made, found, renamed and removed by the bytes of their names")
    func calls() async throws {
        try await withTestFolder { root in
            let folder = try openedFolder(root)
            let (first, second) = (FileName(bytes: [0xFF]), FileName(bytes: [0x61, 0xE9, 0x62]))
            try folder.makeFile(first).write([1, 2, 3])
            try folder.rename(first, to: folder, as: second, .refuse)
            #expect(try folder.status(of: first) == nil && folder.status(of: second)?.size == 3)
            try folder.makeFolder(first)
            #expect(try Set(folder.allNames(atMost: 9).names) == [first, second])
            #expect(try folder.names(atMost: 9).names == [])
            #expect(try folder.folder(first).allNames(atMost: 9).names == [])
            try folder.removeFile(second)
            try folder.removeFolder(first)
            #expect(try folder.allNames(atMost: 9).names == [])
            for bytes in [[], [0x2E], [0x2E, 0x2E], [0x61, 0x2F], [0x61, 0]] as [[UInt8]] {
                #expect(throws: SocketError.self) { try folder.makeFolder(FileName(bytes: bytes)) }
            }
        }
    }
}
