// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

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
