// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexWire
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderEntryTests {
    @Test("What is at a path, and a tag that changes with its content")
    func entries() async throws {
        try await withTestFolder(["a.txt": "hello", "b/": ""]) { root in
            let folder = try SharedFolder(root)
            let file = try #require(try await folder.entry(at: FolderPath("a.txt")!))
            #expect(file.name == "a.txt" && file.kind == .file && file.size == 5)
            // It was changed just now, and the tag is the one that it keeps.
            #expect(file.tag?.isWeak == false)
            #expect(try await folder.entry(at: FolderPath("b")!)?.kind == .folder)
            #expect(try await folder.entry(at: .root)?.kind == .folder)
            #expect(try await folder.entry(at: FolderPath("c")!) == nil)
            try "other".write(toFile: root + "a.txt", atomically: true, encoding: .utf8)
            #expect(try await folder.entry(at: FolderPath("a.txt")!)?.tag != file.tag)
        }
    }
}
