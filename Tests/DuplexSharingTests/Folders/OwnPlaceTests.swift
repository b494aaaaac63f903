// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("A folder of the server's own for libraries that open files by their paths")
struct OwnPlaceTests {
    private static func place(_ root: String) throws -> OwnPlace {
        OwnPlace(try FolderStore(path: root).state, path: root, group: "group")
    }

    @Test("It is made when a path in it is asked for, and its files are renamed and removed by their names")
    func files() async throws {
        try await withTestFolder { root in
            let place = try Self.place(root)
            #expect(try place.status(of: "a") == nil)
            try place.remove("a")
            #expect(!FileManager.default.fileExists(atPath: root + ".duplex"))
            let path = try place.path(of: "a")
            #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
            #expect(FileManager.default.fileExists(atPath: root + ".duplex/group/a"))
            try place.rename("a", to: "b")
            #expect(try place.status(of: "a") == nil && place.status(of: "b")?.size == 1)
            try place.remove("b")
            #expect(try place.status(of: "b") == nil)
        }
    }

    @Test("A folder that has moved has no path any more")
    func moved() async throws {
        try await withTestFolder(["in/x": "", "in2/.duplex/group/x": ""]) { root in
            let place = try Self.place(root + "in")
            _ = try place.path(of: "a")
            try FileManager.default.moveItem(atPath: root + "in", toPath: root + "out")
            #expect(throws: SocketError.self) { try place.path(of: "a") }
            try FileManager.default.moveItem(atPath: root + "in2", toPath: root + "in")
            #expect(throws: SocketError.self) { try place.path(of: "a") }
        }
    }

    @Test("Something is gone only if the disk says so")
    func gone() async throws {
        try await withTestFolder(["a/b/c": "", "d": ""]) { root in
            let place = try Self.place(root)
            for path in ["", "a", "a/b", "a/b/c", "d"] { #expect(!place.isGone(path), "\(path)") }
            for path in ["e", "a/c", "a/b/c/d", "d/a", "e/f"] { #expect(place.isGone(path), "\(path)") }
            // A link may lead there.
            try FileManager.default.createSymbolicLink(atPath: root + "l", withDestinationPath: "a")
            #expect(!place.isGone("l") && !place.isGone("l/b"))
        }
    }
}
