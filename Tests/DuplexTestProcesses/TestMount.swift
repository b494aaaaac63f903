// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file system in memory, for those who may mount one.
package enum TestMount {
    package struct Failed: Error {
        package let text: String
    }

    /// Containers often can't, though their user is root.
    package static let isPossible: Bool = {
        #if os(Linux)
        // In continuous integration the tests fail instead.
        if Integration.isOn { return true }
        let folder = NSTemporaryDirectory() + "duplex-mount-\(UUID().uuidString)"
        guard getuid() == 0, unsafe mkdir(folder, 0o700) == 0 else { return false }
        defer { unsafe rmdir(folder) }
        return unsafe mount("none", folder, "tmpfs", 0, nil) == 0 && umount(folder) == 0
        #else
        return false
        #endif
    }()

    /// Runs the body with a file system of its own at a folder.
    package static func with(_ folder: String, _ body: () async throws -> Void) async throws {
        try await run("mount", "-t", "tmpfs", "none", folder)
        do { try await body() } catch {
            try await run("umount", "-l", folder)
            throw error
        }
        try await run("umount", "-l", folder)
    }

    private static func run(_ command: String...) async throws {
        let run = try await ProgramRun(command)
        if run.status != 0 { throw Failed(text: run.text) }
    }
}
