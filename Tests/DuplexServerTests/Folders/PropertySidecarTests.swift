// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexServer

@Suite("Properties that the file system doesn't keep", .timeLimit(minutes: 1))
struct PropertySidecarTests {
    private static func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }

    private static func sidecar(_ root: String) throws -> PropertySidecar {
        PropertySidecar(state: try FolderStore(path: root).state)
    }

    @Test("They go where files and folders go, and are there behind a restart")
    func follows() async throws {
        try await withTestFolder { root in
            let sidecar = try Self.sidecar(root)
            let (a, b, c) = (try Self.path("a"), try Self.path("b"), try Self.path("c"))
            let inner = try #require(a.appending("ä"))
            try sidecar.set([1], of: a)
            try sidecar.set([2], of: inner)
            try sidecar.set([3], of: c)
            try sidecar.move(a, to: b)
            #expect(try sidecar.value(of: a) == nil)
            #expect(try sidecar.value(of: b) == [1])
            #expect(try sidecar.value(of: try Self.path("b/ä")) == [2])
            try sidecar.copy(b, to: c, onlyItself: true)
            #expect(try sidecar.value(of: c) == [1])
            #expect(try sidecar.value(of: try Self.path("c/ä")) == nil)
            try sidecar.copy(b, to: a, onlyItself: false)
            try sidecar.remove(b)
            let later = try Self.sidecar(root)
            #expect(try later.value(of: inner) == [2])
            #expect(try later.value(of: b) == nil)
            #expect(try later.value(of: c) == [1])
        }
    }

    @Test("The file of them is text; what isn't is left out")
    func file() throws {
        let table = [try Self.path("a b"): [UInt8](0...255), try Self.path("ä"): []]
        let bytes = PropertySidecar.bytes(of: table)
        #expect(PropertySidecar.table(of: bytes) == table)
        #expect(PropertySidecar.table(of: bytes + Array("x y\n61\n61 61 61\n2e2e 61\n".utf8)) == table)
    }

    @Test("There is a bound, and what doesn't fit changes nothing")
    func bound() async throws {
        try await withTestFolder { root in
            let (sidecar, path) = (try Self.sidecar(root), try Self.path("a"))
            try sidecar.set([1], of: path)
            let long = [UInt8](repeating: 0, count: PropertySidecar.bound)
            #expect(throws: SocketError.self) { try sidecar.set(long, of: path) }
            #expect(try sidecar.value(of: path) == [1])
        }
    }

    @Test("They are noted beside where the file system refuses, and followed by the folder's changes")
    func refused() async throws {
        try await withTestFolder(["f/a": "x"]) { root in
            let folder = try SharedFolder(root)
            let (old, new) = (try Self.path("f/a"), try Self.path("g/a"))
            // Longer than any file system keeps.
            let value = [UInt8](repeating: 7, count: 100_000)
            try await folder.changeProperties(of: old, by: .app) { before throws(FolderError) in
                before == nil ? value : nil
            }
            #expect(try folder.notedProperties(of: old) == value && folder.notedProperties(of: new) == nil)
            try await folder.move(try Self.path("f"), to: try Self.path("g"))
            #expect(try folder.notedProperties(of: old) == nil && folder.notedProperties(of: new) == value)
            // Short ones go back to the file.
            try await folder.changeProperties(of: new, by: .app) { _ throws(FolderError) in [1] }
            #expect(try folder.notedProperties(of: new) == [1])
            try await folder.changeProperties(of: new, by: .app) { _ throws(FolderError) in value }
            try await folder.delete(try Self.path("g"))
            #expect(try folder.notedProperties(of: new) == nil)
        }
    }

    @Test("What is made anew has none of what was there before, however that went")
    func anew() async throws {
        try await withTestFolder(["a": "x"]) { root in
            let (folder, path) = (try SharedFolder(root), try Self.path("a"))
            let value = [UInt8](repeating: 7, count: 100_000)
            try await folder.changeProperties(of: path, by: .app) { _ throws(FolderError) in value }
            try FileManager.default.removeItem(atPath: root + "a")
            let upload = try await folder.upload(to: path, clash: .replace, size: nil, by: .app)
            _ = try await upload.finish()
            #expect(try folder.notedProperties(of: path) == nil)
        }
    }
}
