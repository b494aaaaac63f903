// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("A search for names", .timeLimit(minutes: 1))
struct SharedFolderSearchTests {
    private static func search(
        _ folder: SharedFolder,
        _ text: String,
        below path: FolderPath = .root,
        lookingAt bound: Int = 1_000,
        finding limit: Int = 1_000
    ) async throws -> (paths: [String], isTruncated: Bool) {
        let (found, isTruncated) = try await folder.search(
            for: text,
            below: path,
            lookingAt: bound,
            finding: limit,
            by: .app
        )
        return (found.map(\.path.text), isTruncated)
    }

    @Test("It finds files and folders whatever their case, and those nearer to the top first")
    func finds() async throws {
        let files = ["Größe.txt": "", "a/GRÖSSE": "", "a/große/x": "", "a/b/c/GRÖßer": "", "z": "", ".große": ""]
        try await withTestFolder(files) { root in
            let folder = try SharedFolder(root)
            #expect(try await Self.search(folder, "GRÖßE") == (["Größe.txt", "a/b/c/GRÖßer"], false))
            #expect(try await Self.search(folder, "große") == (["a/große"], false))
            #expect(try await Self.search(folder, "gro\u{0308}ß").paths == ["Größe.txt", "a/b/c/GRÖßer"])
            let below = try #require(FolderPath("a/b"))
            #expect(try await Self.search(folder, "größe", below: below).paths == ["a/b/c/GRÖßer"])
            #expect(try await Self.search(folder, "none") == ([], false))
        }
    }

    @Test("It looks at no more than it may, and says so")
    func bounds() async throws {
        try await withTestFolder(["a1": "", "a2": "", "b/a3": "", "c/a4": ""]) { root in
            let folder = try SharedFolder(root)
            #expect(try await Self.search(folder, "a", finding: 4) == (["a1", "a2", "b/a3", "c/a4"], false))
            #expect(try await Self.search(folder, "a", finding: 3) == (["a1", "a2", "b/a3"], true))
            #expect(try await Self.search(folder, "a", lookingAt: 5) == (["a1", "a2", "b/a3"], true))
            #expect(try await Self.search(folder, "a", lookingAt: 2).isTruncated)
        }
    }

    @Test("Links are found, but not followed, so that none leads round in circles")
    func links() async throws {
        try await withTestFolder(["a/b": ""], links: ["a/up": "../a", "a/out": "/etc"]) { root in
            let folder = try SharedFolder(root)
            #expect(try await Self.search(folder, "b").paths == ["a/b"])
            #expect(try await Self.search(folder, "up").paths == ["a/up"])
            #expect(try await Self.search(folder, "out").paths == [])
        }
    }

    @Test("Who may not read finds nothing, nor does anybody where there is no folder")
    func refused() async throws {
        try await withTestFolder(["a": ""]) { root in
            var options = FolderOptions()
            options.access = { _ in .none }
            let folder = try SharedFolder(root, options: options)
            let stranger = FolderVisitor(user: nil, address: nil)
            await #expect(throws: FolderError.self) {
                _ = try await folder.search(for: "a", below: .root, lookingAt: 9, finding: 9, by: stranger)
            }
            for path in ["a", "none", ".hidden"] {
                let path = try #require(FolderPath(path))
                await #expect(throws: FolderError.self) { _ = try await Self.search(folder, "a", below: path) }
            }
        }
    }

    @Test("It ends with its task")
    func cancelled() async throws {
        try await withTestFolder(["a/b": ""]) { root in
            let folder = try SharedFolder(root)
            let (cancelled, _) = AsyncStream<Void>.makeStream()
            let task = Task {
                for await _ in cancelled {}
                return try await Self.search(folder, "b").paths
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }
}
