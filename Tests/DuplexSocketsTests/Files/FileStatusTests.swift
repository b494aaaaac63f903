// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

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
