// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestProcesses
import Foundation
import Logging
import Testing

/// A folder that is shared by WebDAV at a port, for the clients of others; and one of the clients' own beside it.
struct DAVShare {
    /// What is shared, with a slash at its end.
    let root: String
    /// What the client has.
    let local: String
    /// Of the shared folder, with a slash at its end.
    let url: String

    static func run(_ body: @escaping @Sendable (DAVShare) async throws -> Void) async throws {
        try await withTestFolder(["shared/": "", "local/": ""]) { folder in
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            server.webDAV("/dav", folder: try SharedFolder(folder + "shared"))
            try await server.withRunning { address in
                let share = DAVShare(root: folder + "shared/", local: folder + "local/", url: "http://\(address)/dav/")
                try await body(share)
            }
        }
    }

    /// Runs lines of a shell in the client's folder, each of which has to succeed.
    @discardableResult
    func shell(_ script: String, environment: [String: String] = [:]) async throws -> String {
        let lines = "set -e; cd '\(local)'; \(script)"
        return try await PeerProcess.run(["/bin/sh", "-c", lines], environment: environment)
    }

    /// Makes a tree of that many files in the client's folder: names of several scripts, contents of several lengths.
    ///
    /// With characters in the names that mean something in a URL, unless the client can't write those.
    func makeTree(_ name: String, files: Int, marks: String = "#%") throws {
        for number in 0..<files {
            let folder = "\(local)\(name)/\(number % 7)/ä \(number % 3)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let bytes = (0..<(number * 37 % 5_000)).map { UInt8(truncatingIfNeeded: $0 &* number) }
            try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/文件 \(number) & co\(marks).bin"))
        }
    }

    /// How two trees differ; empty where they don't.
    func difference(_ one: String, _ other: String) async throws -> String {
        try await shell("diff -r --exclude=.duplex '\(one)' '\(other)' || true")
    }
}
