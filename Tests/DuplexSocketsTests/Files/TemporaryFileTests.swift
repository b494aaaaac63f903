// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexSockets

@Suite("Files that go again")
struct TemporaryFileTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "duplex-temporary-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    /// Waits until the threads have done what was asked of them before.
    private func settle() async throws {
        for _ in 0..<4 { try await BlockingThreads.files.runToEnd {} }
    }

    @Test("Only its owner may read it, it has what was written, and it goes with the last reference")
    func goes() async throws {
        try await withFolder { folder async throws in
            do {
                let file = try TemporaryFile(in: folder)
                try file.write(Array("Hello, ".utf8))
                try file.write(Array("world".utf8))
                try file.close()
                #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "Hello, world")
                let facts = try FileManager.default.attributesOfItem(atPath: file.path)
                #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                #expect(try names(folder).count == 1)
            }
            while try !names(folder).isEmpty { try await settle() }
        }
    }

    @Test("One that is kept stays, and takes nobody's place unless that is asked for")
    func keeps() async throws {
        try await withFolder { folder async throws in
            try Data("old".utf8).write(to: URL(fileURLWithPath: "\(folder)/taken"))
            do {
                let file = try TemporaryFile(in: folder)
                try file.write(Array("new".utf8))
                let error = #expect(throws: SocketError.self) {
                    try file.keep(as: "\(folder)/taken", replacing: false)
                }
                #expect(error?.code == .fileExists && error?.errno == EEXIST)
                #expect(error?.message == "There is a file “\(folder)/taken” already.")
                #expect(try String(contentsOfFile: "\(folder)/taken", encoding: .utf8) == "old")
                try file.keep(as: "\(folder)/kept", replacing: false)
                #expect(file.path == "\(folder)/kept")
                #expect(throws: SocketError.self) { try file.keep(as: "\(folder)/again", replacing: false) }
                let other = try TemporaryFile(in: folder)
                try other.write(Array("newer".utf8))
                try other.keep(as: "\(folder)/taken", replacing: true)
            }
            try await settle()
            #expect(try Set(names(folder)) == ["kept", "taken"])
            #expect(try String(contentsOfFile: "\(folder)/taken", encoding: .utf8) == "newer")
        }
    }

    @Test("A folder that isn't there is an error with its cause, and so is a file that is closed")
    func faults() async throws {
        let error = #expect(throws: SocketError.self) { try TemporaryFile(in: "/nowhere") }
        #expect(error?.errno == ENOENT && error?.message.contains("/nowhere/") == true)
        let file = try TemporaryFile()
        try file.close()
        try file.close()
        #expect(throws: SocketError.self) { try file.write([1]) }
    }

    @Test("A full disk is told apart from other troubles")
    func full() {
        #expect(SocketError(.system, message: "", errno: ENOSPC).isOutOfSpace)
        #expect(SocketError(.system, message: "", errno: EDQUOT).isOutOfSpace)
        #expect(!SocketError(.system, message: "", errno: EIO).isOutOfSpace)
    }

    @Test("Another file system is an error of its own, and any other names both paths and the cause")
    func notKept() async throws {
        try await withFolder { folder async throws in
            let file = try TemporaryFile(in: folder)
            let plan = FaultPlan()
            for (code, kind) in [(EXDEV, SocketError.Code.otherFileSystem), (EACCES, .system)] {
                for replaces in [true, false] {
                    plan.arm([.init(.renameFile, .fails(code))])
                    let error = #expect(throws: SocketError.self) {
                        try plan.run { () throws(SocketError) in
                            try file.keep(as: "\(folder)/kept", replacing: replaces)
                        }
                    }
                    #expect(error?.code == kind && error?.errno == code)
                    #expect(error?.message.contains(file.path) == true)
                    #expect(error?.message.contains("“\(folder)/kept”") == true)
                }
            }
            try file.keep(as: "\(folder)/kept", replacing: false)
        }
    }

    @Test("A write that is interrupted or cut goes on, and one that fails says why")
    func writes() async throws {
        try await withFolder { folder async throws in
            let file = try TemporaryFile(in: folder)
            let plan = FaultPlan()
            plan.arm([.init(.writeFile, .fails(EINTR)), .init(.writeFile, .isCut(to: 1), first: 2, count: 3)])
            try plan.run { () throws(SocketError) in try file.write(Array("Hello".utf8)) }
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "Hello" && plan.strikes == 4)
            plan.arm([.init(.writeFile, .fails(ENOSPC))])
            let error = #expect(throws: SocketError.self) {
                try plan.run { () throws(SocketError) in try file.write([1]) }
            }
            #expect(error?.errno == ENOSPC && error?.message.contains(file.path) == true)
        }
    }
}
