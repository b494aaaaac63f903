// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Properties that the file system doesn't keep", .timeLimit(minutes: 1))
struct PropertyDatabaseTests {
    private static let file = ".duplex/properties/" + PropertyDatabase.name

    private static func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }

    /// The database of a folder, and the folder.
    private static func open(_ root: String) throws -> (database: PropertyDatabase, folder: SharedFolder) {
        let folder = try SharedFolder(root)
        var made: PropertyDatabase?
        folder.keepProperties { place in
            let database = PropertyDatabase(place, FolderOptions().logger)
            made = database
            return database
        }
        return (try #require(made), folder)
    }

    private static func bytes(_ text: String, times count: Int = 1) -> [UInt8] {
        Array(String(repeating: text, count: count).utf8)
    }

    /// Longer than file systems keep.
    private static let long = bytes("x", times: 100_000)

    private static func set(_ value: [UInt8]?, of path: FolderPath, in folder: SharedFolder) async throws {
        try await folder.changeProperties(of: path, by: .app) { _ throws(FolderError) in value }
    }

    @Test("They go where files and folders go, and are there after a restart")
    func follows() async throws {
        try await withTestFolder(["b/ä": "", "a/ä": "", "c": "", "b0": ""]) { root in
            let database = try Self.open(root).database
            let (a, b, c) = (try Self.path("a"), try Self.path("b"), try Self.path("c"))
            let inner = try #require(a.appending("ä"))
            #expect(try database.value(of: a) == nil)
            try database.set(nil, of: a)
            try database.move(a, to: b)
            #expect(!FileManager.default.fileExists(atPath: root + ".duplex"))
            try database.set(Self.bytes("1"), of: a)
            try database.set(Self.bytes("ä\n"), of: inner)
            try database.set(Self.bytes("3"), of: c)
            try database.set(Self.bytes("4"), of: try Self.path("b0"))
            try database.move(a, to: b)
            #expect(try database.value(of: a) == nil && database.value(of: inner) == nil)
            #expect(try database.value(of: b) == Self.bytes("1"))
            #expect(try database.value(of: try Self.path("b/ä")) == Self.bytes("ä\n"))
            try database.copy(b, to: c, onlyItself: true)
            #expect(try database.value(of: c) == Self.bytes("1"))
            #expect(try database.value(of: try Self.path("c/ä")) == nil)
            try database.copy(b, to: a, onlyItself: false)
            try database.remove(b)
            let later = try Self.open(root).database
            #expect(try later.value(of: inner) == Self.bytes("ä\n"))
            #expect(try later.value(of: b) == nil)
            #expect(try later.value(of: c) == Self.bytes("1"))
            // A name that begins like the folder's is another one.
            #expect(try later.value(of: try Self.path("b0")) == Self.bytes("4"))
        }
    }

    @Test("A change writes what it changes, however much there is")
    func cost() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<100).map { ("f\($0)", "x") })
        try await withTestFolder(files) { root in
            let database = try Self.open(root).database
            for number in 0..<100 {
                try database.set(Self.bytes("x", times: 60_000), of: try Self.path("f\(number)"))
            }
            /// The blocks of the file.
            func blocks() throws -> [Data] {
                let data = try #require(FileManager.default.contents(atPath: root + Self.file))
                return stride(from: 0, to: data.count, by: 4_096).map { data[$0..<min(data.count, $0 + 4_096)] }
            }
            let before = try blocks()
            #expect(before.count > 1_400 && before.count < 2_000)
            try database.set(Self.bytes("y", times: 60_000), of: try Self.path("f50"))
            let after = try blocks()
            #expect(zip(before, after).count { $0 != $1 } < 60)
            try database.remove(try Self.path("f51"))
            #expect(try blocks().count < after.count - 10)
        }
    }

    @Test("There is a bound, and what doesn't fit changes nothing; what has gone leaves its room")
    func bound() async throws {
        try await withTestFolder(["a": "", "b": "", "c": ""]) { root in
            let (database, _) = try Self.open(root)
            let (a, b, c) = (try Self.path("a"), try Self.path("b"), try Self.path("c"))
            try database.set(Self.bytes("1"), of: a)
            let half = Self.bytes("x", times: PropertyDatabase.bound / 2)
            try database.set(half, of: b)
            #expect(throws: SocketError.self) { try database.set(half, of: a) }
            #expect(throws: SocketError.self) { try database.set(half, of: c) }
            #expect(try database.value(of: a) == Self.bytes("1") && database.value(of: c) == nil)
            try FileManager.default.removeItem(atPath: root + "b")
            try database.set(half, of: c)
            #expect(try database.value(of: c) == half && database.count == 2)
        }
    }

    @Test("Rows of what went by another program go when the database is opened, and with changes")
    func gone() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<20).map { ("f/\($0)", "x") })
        try await withTestFolder(files.merging(["a": "", "z": ""]) { one, _ in one }) { root in
            let database = try Self.open(root).database
            for number in 0..<20 { try database.set(Self.bytes("x"), of: try Self.path("f/\(number)")) }
            try database.set(Self.bytes("x"), of: try Self.path("a"))
            try FileManager.default.removeItem(atPath: root + "f/0")
            #expect(try Self.open(root).database.count == 20)
            try FileManager.default.removeItem(atPath: root + "f")
            for text in ["1", "2", "3"] { try database.set(Self.bytes(text), of: try Self.path("z")) }
            #expect(try database.count == 2)
        }
    }

    @Test("They are kept beside where the file system refuses, and follow the folder's changes")
    func refused() async throws {
        try await withTestFolder(["f/a": "x"]) { root in
            let (database, folder) = try Self.open(root)
            let (old, new) = (try Self.path("f/a"), try Self.path("g/a"))
            try await Self.set(Self.long, of: old, in: folder)
            #expect(try folder.notedProperties(of: old) == Self.long && folder.notedProperties(of: new) == nil)
            try await folder.move(try Self.path("f"), to: try Self.path("g"))
            #expect(try folder.notedProperties(of: old) == nil && folder.notedProperties(of: new) == Self.long)
            // Short ones go back to the file.
            try await Self.set([1], of: new, in: folder)
            #expect(try folder.notedProperties(of: new) == [1])
            #expect(try database.count == 0)
            try await Self.set(Self.long, of: new, in: folder)
            try await folder.remove(try Self.path("g"))
            #expect(try folder.notedProperties(of: new) == nil)
            #expect(try database.count == 0)
        }
    }

    @Test("What is made anew has none of what was there before, however that went")
    func anew() async throws {
        try await withTestFolder(["a": "x", "f/x": ""]) { root in
            let folder = try Self.open(root).folder
            let (path, inner) = (try Self.path("a"), try Self.path("f"))
            try await Self.set(Self.long, of: path, in: folder)
            try await Self.set(Self.long, of: inner, in: folder)
            try FileManager.default.removeItem(atPath: root + "a")
            try FileManager.default.removeItem(atPath: root + "f")
            let upload = try await folder.upload(to: path, onConflict: .replace, size: nil, by: .app)
            _ = try await upload.finish()
            try await folder.createFolder(inner)
            #expect(try folder.notedProperties(of: path) == nil && folder.notedProperties(of: inner) == nil)
        }
    }

    @Test("They go with a folder that is moved deeper than paths lead, and come back")
    func deep() async throws {
        let (deep, inner) = ([String](repeating: "d", count: 60), [String](repeating: "e", count: 60))
        try await withTestFolder(["a/" + inner.joined(separator: "/"): ""]) { root in
            let database = try Self.open(root).database
            let (here, there) = (try Self.path("a"), try Self.path(deep.joined(separator: "/")))
            let path = try Self.path("a/" + inner.joined(separator: "/"))
            try database.set(Self.bytes("1"), of: path)
            try database.move(here, to: there)
            try FileManager.default.createDirectory(
                atPath: root + deep.dropLast().joined(separator: "/"),
                withIntermediateDirectories: true
            )
            try FileManager.default.moveItem(atPath: root + "a", toPath: root + deep.joined(separator: "/"))
            // Another one reads what was written, and takes it for there.
            let other = try Self.open(root).database
            #expect(try other.count == 1)
            try other.move(there, to: here)
            #expect(try other.value(of: path) == Self.bytes("1"))
        }
    }

    @Test("Several may use one database, and see what the others have changed")
    func several() async throws {
        try await withTestFolder(["a": "", "b": ""]) { root in
            let (one, other) = (try Self.open(root).database, try Self.open(root).database)
            let (a, b) = (try Self.path("a"), try Self.path("b"))
            #expect(try other.value(of: a) == nil)
            try one.set(Self.bytes("1"), of: a)
            try other.set(Self.bytes("2"), of: b)
            #expect(try one.value(of: b) == Self.bytes("2") && other.value(of: a) == Self.bytes("1"))
            await withTaskGroup(of: Void.self) { group in
                for (database, path) in [(one, a), (other, b)] {
                    group.addTask {
                        for number in 0..<20 { try? database.set(Self.bytes("\(number)"), of: path) }
                    }
                }
            }
            #expect(try one.value(of: b) == Self.bytes("19") && other.value(of: a) == Self.bytes("19"))
            // One that is taken away is made anew.
            try FileManager.default.removeItem(atPath: root + Self.file)
            #expect(try one.value(of: a) == nil)
            try other.set(Self.bytes("3"), of: a)
            #expect(try one.value(of: a) == Self.bytes("3"))
        }
    }

    // MARK: Faults

    /// Ways in which a database may be damaged.
    enum Damage: CaseIterable {
        case text, cut, zeroed, empty
    }

    @Test(
        "A damaged database is put aside, whether or not it is open, and a new one takes its place",
        arguments: Damage.allCases
    )
    func damaged(_ damage: Damage) async throws {
        try await withTestFolder(["a": "", "b": ""]) { root in
            let a = try Self.path("a")
            let before = try Self.open(root).database
            try before.set(Self.long, of: a)
            try before.set(Self.bytes("1"), of: try Self.path("b"))
            // A writer of its own: SQLite loses its locks if this process closes the file.
            let program =
                switch damage {
                case .text: "printf 'This is no database. %.0s' $(seq 1000) > \"$0\""
                case .cut: "truncate -s 10000 \"$0\""
                case .zeroed: "dd if=/dev/zero of=\"$0\" bs=4096 seek=1 count=20 conv=notrunc 2>/dev/null"
                case .empty: ": > \"$0\""
                }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", program, root + Self.file]
            try process.run()
            process.waitUntilExit()
            for database in [before, try Self.open(root).database] {
                _ = try database.value(of: a)
                try database.set(Self.bytes("2"), of: a)
                #expect(try database.value(of: a) == Self.bytes("2"))
                try database.remove(try Self.path("b"))
            }
            let isAside = FileManager.default.fileExists(
                atPath: root + ".duplex/properties/" + PropertyDatabase.damagedName
            )
            // Zeroed pages may be in the memory of those who have it open, who write them again; an empty file is no fault.
            if damage == .text || damage == .cut { #expect(isAside) }
            if damage == .empty { #expect(!isAside) }
        }
    }

    private static let patch = """
        <propertyupdate xmlns='DAV:'><set><prop><x xmlns='u:'>\(String(repeating: "v", count: 100_000))</x></prop></set>\
        </propertyupdate>
        """
    /// Longer than file systems keep.
    private static var sharing: WebDAVOptions {
        var sharing = WebDAVOptions()
        sharing.propertySize = .kibibytes(128)
        return sharing
    }

    private static let question = "<propfind xmlns='DAV:'><prop><x xmlns='u:'/><getcontentlength/></prop></propfind>"

    @Test("Without a database that can be opened files are served, and answers say what can't be read or kept")
    func unusable() async throws {
        // Where the folder of the database should be there is a file.
        try await WebDAVFixture.run(["a": "Hello", ".duplex/properties": "x"], sharing: Self.sharing) {
            dav async throws in
            #expect(try await dav.code(.proppatch, "a", [:], Self.patch) >= 400)
            let response = try await dav.request(.propfind, "", [.depth: "1"], Self.question)
            #expect(try WebDAVFixture.resources(response)["/dav/a"]?[.dav("getcontentlength")]?.text == "5")
            #expect(try WebDAVFixture.resources(response, status: "500")["/dav/a"]?.count == 1)
            #expect(try WebDAVFixture.resources(response, status: "404")["/dav/a"] == [:])
            #expect(try await dav.properties("", depth: "1").count == 2)
            #expect(try await dav.code(.put, "b", [:], "x") == 201)
            #expect(try await dav.code(.mkcol, "f") == 201)
            #expect(try await dav.code(.copy, "a", [.destination: "/dav/f/a"]) == 201)
            #expect(try await dav.code(.move, "f", [.destination: "/dav/g"]) == 201)
            #expect(try await dav.code(.delete, "g") == 204)
            #expect(try await dav.request(.get, "a").text == "Hello")
        }
    }

    @Test("Properties of many files fill the database, which 507 says, and removing some makes room")
    func full() async throws {
        let count = 200
        let files = Dictionary(uniqueKeysWithValues: (0..<count).map { ("f/\($0)", "x") })
        try await WebDAVFixture.run(files, sharing: Self.sharing) { dav async throws in
            var taken = 0
            while taken < count {
                let response = try await dav.request(.proppatch, "f/\(taken)", [:], Self.patch)
                #expect(response.status == .multi)
                if response.text.contains("507 Insufficient Storage") { break }
                taken += 1
            }
            #expect(taken > 140 && taken < count)
            #expect(try await dav.code(.put, "b", [:], "x") == 201)
            #expect(try await dav.code(.delete, "f/0") == 204)
            let again = try await dav.request(.proppatch, "f/\(taken)", [:], Self.patch)
            #expect(again.text.contains("200 OK"))
        }
    }
}
