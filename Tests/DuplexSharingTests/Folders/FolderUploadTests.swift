// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing
@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct FolderUploadTests {
    private static let path = FolderPath.root.appending("a.txt") ?? .root

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    private static func code(_ body: () async throws -> Void) async -> FolderError.Code? {
        do { try await body() } catch { return (error as? FolderError)?.code ?? .system }
        return nil
    }

    private static func store(
        _ text: String,
        in folder: SharedFolder,
        as path: FolderPath = path,
        _ conflict: NameConflict
    ) async throws -> FolderChange {
        let upload = try await folder.upload(to: path, onConflict: conflict, size: nil, by: .app)
        for piece in text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false) {
            try await upload.write(Array(piece))
        }
        return try await upload.finish()
    }

    @Test("A file is there when it is whole, and not before")
    func writing() async throws {
        try await withTestFolder { root in
            var options = FolderOptions()
            options.syncs = true
            let folder = try SharedFolder(root, options: options)
            let upload = try await folder.upload(to: Self.path, onConflict: .refuse, size: 600_000, by: .app)
            for _ in 0..<6 {
                try await upload.write([UInt8](repeating: 7, count: 100_000))
                #expect(try await folder.entries(of: .root).entries == [])
            }
            #expect(try await upload.finish().path == Self.path)
            #expect(try await folder.entry(at: Self.path)?.size == 600_000)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary").count == 1)
        }
    }

    @Test("It goes where its path leads when it is whole, and not after a folder that has another name by then")
    func movedFolder() async throws {
        try await withTestFolder(["f/": "", "g/": ""]) { root in
            let folder = try SharedFolder(root)
            let (path, other) = (try #require(FolderPath("f/a")), try #require(FolderPath("h")))
            let upload = try await folder.upload(to: path, onConflict: .replace, size: nil, by: .app)
            let second = try await folder.upload(to: path, onConflict: .replace, size: nil, by: .app)
            try await upload.write([1])
            try await folder.move(path.parent, to: other)
            #expect(await Self.code { _ = try await upload.finish() } == .noParent)
            try await folder.createFolder(path.parent)
            _ = try await second.finish()
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "h") == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "f") == ["a"])
        }
    }

    @Test("One that is given up leaves nothing")
    func givenUp() async throws {
        try await withTestFolder { root in
            let folder = try SharedFolder(root)
            do {
                let upload = try await folder.upload(to: Self.path, onConflict: .refuse, size: nil, by: .app)
                try await upload.write([UInt8](repeating: 7, count: 1_000_000))
            }
            // The thread that removes it takes calls in their order.
            for _ in 0..<8 { _ = try await folder.entry(at: .root) }
            while try FileManager.default.subpathsOfDirectory(atPath: root + ".duplex/temporary").count > 1 {
                await Task.yield()
            }
            #expect(try await folder.entries(of: .root).entries == [])
        }
    }

    @Test("A name that something has is refused, replaced or numbered; a folder is never replaced")
    func clashes() async throws {
        try await withTestFolder(["a.txt": "old", "f/g": "g"]) { root in
            let folder = try SharedFolder(root)
            #expect(await Self.code { _ = try await Self.store("new", in: folder, .refuse) } == .exists)
            #expect(Self.text(root + "a.txt") == "old")
            #expect(try await Self.store("n|e|w", in: folder, .number).path.text == "a (1).txt")
            #expect(try await Self.store("new", in: folder, .replace).replaced)
            #expect(Self.text(root + "a.txt") == "new" && Self.text(root + "a (1).txt") == "new")
            let inner = FolderPath("f")!
            #expect(await Self.code { _ = try await Self.store("new", in: folder, as: inner, .replace) } == .isFolder)
            #expect(try await Self.store("new", in: folder, as: inner, .number).path.text == "f (1)")
            #expect(Self.text(root + "f/g") == "g")
        }
    }

    @Test("What appears meanwhile isn't replaced where that is refused")
    func races() async throws {
        try await withTestFolder { root in
            let folder = try SharedFolder(root)
            let upload = try await folder.upload(to: Self.path, onConflict: .refuse, size: nil, by: .app)
            try await upload.write([1])
            try "other".write(toFile: root + "a.txt", atomically: true, encoding: .utf8)
            #expect(await Self.code { _ = try await upload.finish() } == .exists)
            #expect(Self.text(root + "a.txt") == "other")
        }
    }

    @Test("A file that is replaced hands on its permissions and its properties")
    func inheriting() async throws {
        try await withTestFolder(["a.txt": "old"]) { root in
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: root + "a.txt")
            let folder = try SharedFolder(root)
            let old = try await folder.open(Self.path, by: .app)
            let keeps = (try? old.setAttribute(FolderStore.properties, [1, 2])) != nil
            _ = try await Self.store("new", in: folder, .replace)
            let new = try await folder.open(Self.path, by: .app)
            #expect(new.status.permissions == 0o640)
            if keeps { #expect(try new.attribute(FolderStore.properties) == [1, 2]) }
        }
    }

    @Test("Names and sizes that aren't taken are refused, before a byte is read where that is known")
    func limits() async throws {
        try await withTestFolder(["b.txt": "b"]) { root in
            var options = FolderOptions()
            options.allowedExtensions = ["txt"]
            options.fileSize = .bytes(10)
            let folder = try SharedFolder(root, options: options)
            #expect(
                await Self.code { _ = try await Self.store("x", in: folder, as: FolderPath("a.exe")!, .refuse) }
                    == .notAllowed
            )
            #expect(
                await Self.code { try await folder.move(FolderPath("b.txt")!, to: FolderPath("b.exe")!) } == .notAllowed
            )
            #expect(
                await Self.code { _ = try await folder.upload(to: Self.path, onConflict: .refuse, size: 11, by: .app) }
                    == .tooLarge
            )
            #expect(
                await Self.code {
                    _ = try await folder.upload(to: FolderPath("x/a.txt")!, onConflict: .refuse, size: 1, by: .app)
                } == .noParent
            )
            let upload = try await folder.upload(to: Self.path, onConflict: .refuse, size: nil, by: .app)
            try await upload.write([UInt8](repeating: 1, count: 10))
            #expect(await Self.code { try await upload.write([1]) } == .tooLarge)
        }
    }
}
