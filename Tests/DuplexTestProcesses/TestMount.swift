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
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - size: how many bytes there is room for. Default: for more than any test needs.
    ///   - body: runs meanwhile.
    /// - Throws: what the body throws; ``Failed``.
    package static func with(_ folder: String, size: Int? = nil, _ body: () async throws -> Void) async throws {
        let options = size.map { ["-o", "size=\($0)"] } ?? []
        try await run(["mount", "-t", "tmpfs"] + options + ["none", folder])
        do { try await body() } catch {
            try await run(["umount", "-l", folder])
            throw error
        }
        try await run(["umount", "-l", folder])
    }

    private static func run(_ command: [String]) async throws {
        let run = try await ProgramRun(command)
        if run.status != 0 { throw Failed(text: run.text) }
    }
}
