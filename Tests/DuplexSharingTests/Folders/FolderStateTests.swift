// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderStateTests {
    private static func names(_ path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    @Test("Whoever only looks leaves nothing behind")
    func looking() async throws {
        try await withTestFolder(["a": "a"]) { root in
            let folder = try SharedFolder(root)
            _ = try await folder.entries(of: .root)
            _ = try await folder.trash()
            #expect(Self.names(root) == ["a"])
        }
    }

    @Test("What others left who were ended is taken away, and what others still write stays")
    func sweeping() async throws {
        try await withTestFolder([".duplex/temporary/dead/file": "half", "a": "a"]) { root in
            let first = try SharedFolder(root)
            #expect(Self.names(root + ".duplex/temporary") == [])
            let upload = try await first.upload(to: FolderPath("b")!, onConflict: .refuse, size: nil, by: .app)
            try await upload.write([1, 2, 3])
            _ = try SharedFolder(root)
            #expect(try await upload.finish().path.text == "b")
            #expect(try Data(contentsOf: URL(fileURLWithPath: root + "b")) == Data([1, 2, 3]))
        }
    }

    @Test("A link in the place of its folder is not followed")
    func links() async throws {
        try await withTestFolder(["out/temporary/x/file": "out", "in/a": "a"], links: ["in/.duplex": "../out"]) {
            root in
            await #expect(throws: (any Error).self) {
                let folder = try SharedFolder(root + "in")
                try await folder.remove(try #require(FolderPath("a")))
            }
            let text = try String(contentsOfFile: root + "out/temporary/x/file", encoding: .utf8)
            #expect(text == "out")
        }
    }

    @Test("A folder that was replaced leaves the place that it had for a moment, where the process was ended meanwhile")
    func leaving() async throws {
        try await withTestFolder(["a/old": "x", "b/new": "x", "c/x": "x"]) { root in
            do {
                let store = try FolderStore(path: root)
                let (a, c) = (
                    try #require(try store.root.status(of: "a")), try #require(try store.root.status(of: "c"))
                )
                _ = try store.state.note(a, leaves: try #require(FolderPath("a")))
                // One that never came there, one that has gone, and one that was told to be forgotten.
                _ = try store.state.note(a, leaves: try #require(FolderPath("b")))
                _ = try store.state.note(a, leaves: try #require(FolderPath("none/a")))
                store.state.forget(try store.state.note(c, leaves: try #require(FolderPath("c"))))
                // Not while the process is there.
                _ = try FolderStore(path: root)
                #expect(FileManager.default.fileExists(atPath: root + "a/old"))
                withExtendedLifetime(store) {}
            }
            _ = try FolderStore(path: root)
            #expect(!FileManager.default.fileExists(atPath: root + "a"))
            #expect(
                FileManager.default.fileExists(atPath: root + "b/new")
                    && FileManager.default.fileExists(atPath: root + "c/x")
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + ".duplex/temporary") == [])
        }
    }
}
