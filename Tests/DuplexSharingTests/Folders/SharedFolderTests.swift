// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite(.timeLimit(minutes: 1)) struct SharedFolderTests {
    private static let visitor = FolderVisitor(user: "ann", address: nil)

    private static func code(_ body: () async throws -> Void) async -> FolderError.Code? {
        do { try await body() } catch { return (error as? FolderError)?.code ?? .system }
        return nil
    }

    /// Everything that changes something.
    private static func changes(_ folder: SharedFolder) throws -> [() async throws -> Void] {
        let (a, b) = (try #require(FolderPath("a")), try #require(FolderPath("b")))
        return [
            { try await folder.createFolder(b, by: visitor) }, { try await folder.move(a, to: b, by: visitor) },
            { try await folder.copy(a, to: b, by: visitor) }, { try await folder.remove(a, by: visitor) },
            { try await folder.moveToTrash(a, by: visitor) }, { try await folder.emptyTrash(by: visitor) },
            { _ = try await folder.upload(to: b, onConflict: .number, size: 1, by: visitor) },
        ]
    }

    @Test("Who may read may read, and who may not may not; the app may do everything")
    func access() async throws {
        try await withTestFolder(["a": "a"]) { root in
            let granted = Mutex(FolderOptions.Access.read)
            var options = FolderOptions()
            options.access = { visitor in visitor.user == "ann" ? granted.withLock { $0 } : .none }
            let folder = try SharedFolder(root, options: options)
            _ = try await folder.open(FolderPath("a")!, by: Self.visitor)
            #expect(!folder.mayWrite(Self.visitor) && folder.mayWrite(.app))
            for change in try Self.changes(folder) { #expect(await Self.code(change) == .notPermitted) }
            granted.withLock { $0 = .none }
            #expect(await Self.code { _ = try await folder.open(FolderPath("a")!, by: Self.visitor) } == .notPermitted)
            granted.withLock { $0 = .readAndWrite }
            try await folder.createFolder(FolderPath("b")!, by: Self.visitor)
            try await folder.remove(FolderPath("a")!)
        }
    }

    @Test("The app is asked before, and told behind; what it throws is thrown, and nothing is done")
    func hooks() async throws {
        struct Refused: Error {}
        try await withTestFolder(["a": "a"]) { root in
            let refuses = Mutex(true)
            let told = Mutex<[String]>([])
            var options = FolderOptions()
            options.before = { operation in
                #expect(operation.visitor == Self.visitor)
                if refuses.withLock({ $0 }) && operation.kind != .read { throw Refused() }
            }
            options.after = { operation in
                told.withLock { $0.append("\(operation.kind) \(operation.path) \(operation.destination?.text ?? "")") }
            }
            let folder = try SharedFolder(root, options: options)
            for change in try Self.changes(folder).dropLast(2) {
                await #expect(throws: Refused.self) { try await change() }
            }
            #expect(told.withLock { $0 } == [])
            refuses.withLock { $0 = false }
            try await folder.move(FolderPath("a")!, to: FolderPath("b")!, by: Self.visitor)
            let upload = try await folder.upload(to: FolderPath("b")!, onConflict: .number, size: 1, by: Self.visitor)
            try await upload.write([1])
            _ = try await upload.finish()
            #expect(told.withLock { $0 } == ["move /a b", "write /b (1) "])
        }
    }

    @Test("Whoever looks on is told in which folder something has changed, until that is enough")
    func observers() async throws {
        try await withTestFolder(["a": "a", "b/": ""]) { root in
            let folder = try SharedFolder(root)
            let seen = Mutex<Set<String>>([])
            let number = folder.observe { path in _ = seen.withLock { $0.insert(path.description) } }
            try await folder.move(FolderPath("a")!, to: FolderPath("b/a")!)
            #expect(seen.withLock { $0 } == ["/", "/b"])
            folder.removeObserver(number)
            seen.withLock { $0 = [] }
            try await folder.remove(FolderPath("b")!)
            #expect(seen.withLock { $0 } == [])
        }
    }

    @Test("Hidden names aren't there, unless they are to be", arguments: [false, true])
    func hidden(isShown: Bool) async throws {
        try await withTestFolder([".a": "a", "b/.c/d": "d"]) { root in
            var options = FolderOptions()
            options.showsHidden = isShown
            let folder = try SharedFolder(root, options: options)
            #expect(try await (folder.entry(at: FolderPath(".a")!) != nil) == isShown)
            #expect(try await (folder.entry(at: FolderPath("b/.c/d")!) != nil) == isShown)
            #expect(
                await Self.code { _ = try await folder.open(FolderPath(".a")!, by: .app) } == (isShown ? nil : .nothing)
            )
            #expect(
                await Self.code { try await folder.createFolder(FolderPath("b/.e")!) } == (isShown ? nil : .nothing)
            )
            #expect(
                await Self.code { try await folder.move(FolderPath("b")!, to: FolderPath(".b")!) }
                    == (isShown ? nil : .nothing)
            )
            // Its own folder is there by now, and is never among them.
            try await folder.createFolder(FolderPath("e")!)
            try await folder.remove(FolderPath("e")!)
            #expect(try await folder.entries(of: .root).entries.allSatisfy { $0.name != ".duplex" })
        }
    }

    @Test("A folder that isn't there can't be shared")
    func missing() {
        #expect(throws: (any Error).self) { try SharedFolder("/nowhere/at/all") }
    }
}
