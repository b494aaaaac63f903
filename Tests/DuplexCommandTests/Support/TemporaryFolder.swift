// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs `body` with a folder of its own, which is removed afterwards.
func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = NSTemporaryDirectory() + "duplex-command-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder + "/")
}

/// Runs `body` with a folder that has `cert.pem` and `key.pem` for localhost.
func withCertificate<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    try await withTemporaryFolder { folder in
        let made = try await RunningCommand.run(["cert", "--cert", folder + "cert.pem", "--key", folder + "key.pem"])
        guard made.status == 0 else { throw CancellationError() }
        return try await body(folder)
    }
}

/// Runs `body` while `duplex serve` runs with those arguments, and gives it the URL that the command has printed.
func withServe<Result>(
    _ arguments: [String],
    _ body: (String, RunningCommand) async throws -> Result
) async throws -> Result {
    let command = try RunningCommand(["serve"] + arguments)
    let line = try await command.readLine()
    guard let url = line.split(separator: " ").last else { throw CancellationError() }
    do {
        let result = try await body(String(url), command)
        command.signal(SIGTERM)
        _ = try await command.finish()
        return result
    } catch {
        command.signal(SIGKILL)
        throw error
    }
}
