// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

@Suite("Opened files")
struct OpenedFileTests {
    private func open(_ path: String) throws -> OpenedFile {
        let folder = try ConfinedFolder(path: (path as NSString).deletingLastPathComponent)
        guard case .found(let file) = try folder.find((path as NSString).lastPathComponent) else {
            throw CancellationError()
        }
        return file
    }

    @Test("What the system says of a file is that of the moment in which it was opened")
    func looks() async throws {
        try await withTestFolder(["a": "hello"]) { root in
            let file = try open(root + "a")
            #expect(file.kind == .file && file.size == 5 && file.modified.seconds > 1_700_000_000)
            // Set back, as an unpacked archive does it: what nobody can set tells the truth.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)],
                ofItemAtPath: root + "a"
            )
            let later = try open(root + "a")
            #expect(later.modified.seconds == 1 && later.number == file.number)
            #expect(later.changed.seconds > 1_700_000_000 && later.changed != file.changed)
        }
    }

    @Test("A file that was written, renamed over or removed isn't the same any more")
    func changes() async throws {
        try await withTestFolder(["a": "hello", "b": "other", "c": "third"]) { root in
            let files = try ["a", "b", "c"].map { try open(root + $0) }
            #expect(files[0].isUnchanged && files[1].isUnchanged && files[2].isUnchanged)
            // The file system's clock goes on by some milliseconds at a time: what it has written is the end of the wait.
            while files[0].isUnchanged { try Data("hallo".utf8).write(to: URL(fileURLWithPath: root + "a")) }
            try FileManager.default.removeItem(atPath: root + "b")
            #expect(!files[1].isUnchanged)
            let renamed = unsafe rename(root + "a", root + "c")
            #expect(renamed == 0)
            #expect(!files[2].isUnchanged)
        }
    }

    @Test("A file stays the one that was opened, whoever has its name")
    func replaced() async throws {
        try await withTestFolder(["a": "hello", "b": "other"]) { root in
            let file = try open(root + "a")
            try FileManager.default.removeItem(atPath: root + "a")
            try FileManager.default.moveItem(atPath: root + "b", toPath: root + "a")
            #expect(try file.range(from: 1, count: 3).readAll(atMost: 10) == Array("ell".utf8))
            #expect(try open(root + "a").number != file.number)
        }
    }

    @Test("A part that isn't there any more is an error")
    func shorter() async throws {
        try await withTestFolder(["a": "hello"]) { root in
            let file = try open(root + "a")
            try Data("he".utf8).write(to: URL(fileURLWithPath: root + "a"))
            #expect(throws: SocketError.self) { try file.range(from: 0, count: 6) }
            #expect(throws: SocketError.self) { try file.range(from: .max, count: 1) }
        }
    }

    @Test("The names in a folder, up to a bound")
    func names() async throws {
        try await withTestFolder(["a": "", ".b": "", "c/": "", "é": ""]) { root in
            let folder = try openedFolder(root)
            #expect(folder.status.kind == .folder)
            let (names, isCut) = try folder.names(atMost: 4)
            #expect(Set(names) == ["a", ".b", "c", "é"] && !isCut)
            let some = try folder.names(atMost: 3)
            #expect(some.names.count == 3 && some.isCut)
            // From the beginning each time.
            #expect(try folder.names(atMost: 10).names.count == 4)
        }
    }

    #if os(Linux)
    @Test("A name that isn't text is left out")
    func notText() async throws {
        try await withTestFolder(["a": ""]) { root in
            let status = try await Self.run("/bin/sh", "-c", "touch \"$0$(printf '\\377')\"", root)
            #expect(status == 0)
            #expect(try openedFolder(root).names(atMost: 10).names == ["a"])
        }
    }

    private static func run(_ program: String, _ arguments: String...) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
    #endif
}

@Suite("Extended attributes of files that aren't opened")
struct FileAttributeTests {
    @Test("They are read by name, with the beginning of long values, and no file has none")
    func all() async throws {
        try await withTestFolder(["a.txt": "text"]) { root async throws in
            #expect(FileAttribute.all(at: root + "a.txt").filter { $0.name.hasPrefix("user.") }.isEmpty)
            guard case .found(let file) = try ConfinedFolder(path: root).find("a.txt") else {
                throw CancellationError()
            }
            do {
                try file.setAttribute("user.second", Array("two".utf8))
                try file.setAttribute("user.first", [UInt8](repeating: 0xFF, count: 3_000))
            } catch {
                // This file system has none.
                return #expect((error as? SocketError)?.errno == ENOTSUP)
            }
            let found = FileAttribute.all(at: root + "a.txt").filter { $0.name.hasPrefix("user.") }
            #expect(found.map(\.name) == ["user.first", "user.second"])
            #expect(found.map(\.size) == [3_000, 3] && found[0].bytes.count == 3_000)
            #expect(found[1].bytes == Array("two".utf8))
            #expect(FileAttribute.all(at: root + "none") == [])
            // Not those of what a link leads to.
            try FileManager.default.createSymbolicLink(atPath: root + "link", withDestinationPath: root + "a.txt")
            #expect(FileAttribute.all(at: root + "link").allSatisfy { !$0.name.hasPrefix("user.") })
        }
    }
}

@Suite struct FileStatusTests {
    @Test("It is told what something is, and of a link that it is one")
    func kinds() async throws {
        try await withTestFolder(["file": "hello", "folder/": ""], links: ["link": "file"]) { root in
            let folder = try openedFolder(root)
            let made = unsafe mkfifo(root + "pipe", 0o600)
            #expect(made == 0)
            let kinds = try ["file", "folder", "link", "pipe"].map { try folder.status(of: $0)?.kind }
            #expect(kinds == [.file, .folder, .link, .other])
            let status = try #require(try folder.status(of: "file"))
            #expect(status.size == 5 && status.permissions & 0o600 == 0o600)
            #expect(abs(status.modified.seconds - Int64(Date().timeIntervalSince1970)) < 60)
        }
    }

    @Test("The same file under two names is the same one")
    func sameness() async throws {
        try await withTestFolder(["file": "hello", "other": "hello"]) { root in
            try FileManager.default.linkItem(atPath: root + "file", toPath: root + "name")
            let folder = try openedFolder(root)
            let file = try #require(try folder.status(of: "file"))
            #expect(try folder.status(of: "name")?.isSame(as: file) == true)
            #expect(try folder.status(of: "other")?.isSame(as: file) == false)
        }
    }
}

/// A folder of a test.
func openedFolder(_ path: String) throws -> OpenedFolder {
    guard case .found(let file) = try ConfinedFolder(path: path).find(""), let folder = OpenedFolder(file) else {
        throw SocketError(.unreadableFile, message: "“\(path)” is no folder.")
    }
    return folder
}
